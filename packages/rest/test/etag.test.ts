import { describe, expect, it } from "vitest";
import { contentTag, etagOf, noneMatchHolds, requirePreconditions } from "../src/etag.ts";
import { Problem } from "../src/problem.ts";

function check(method: string, headers: Record<string, string>): () => void {
  return () => requirePreconditions(new Request("http://localhost/", { method, headers }), '"3"');
}

describe("requirePreconditions", () => {
  it.each(['"2"', 'W/"3"', "3", '"3', '"33"', "", '"2", W/"3"', '"1,"3'])(
    "refuses If-Match: %s",
    (tags) => {
      expect(check("PUT", { "if-match": tags })).toThrow(Problem);
      expect(check("GET", { "if-match": tags })).toThrow(Problem);
    },
  );

  it.each(['"3"', "*", " * ", '"1", "3"', '"a,b","3"', 'W/"1" ,"3"'])(
    "accepts If-Match: %s",
    (tags) => {
      expect(check("PUT", { "if-match": tags })).not.toThrow();
    },
  );

  it.each(['"3"', 'W/"3"', "*"])("refuses a change with If-None-Match: %s", (tags) => {
    expect(check("DELETE", { "if-none-match": tags })).toThrow(Problem);
    expect(check("GET", { "if-none-match": tags })).not.toThrow();
    expect(check("PUT", { "if-none-match": '"2"' })).not.toThrow();
  });
});

describe("etagOf", () => {
  it("tells variants of one version apart", () => {
    expect([etagOf(3), etagOf(3, "public")]).toEqual(['"3"', '"3-public"']);
  });
});

describe("noneMatchHolds", () => {
  it.each([
    [null, false],
    ['"2"', false],
    ["3", false],
    ['"3"', true],
    ['W/"3"', true],
    ['"a,b", W/"3"', true],
    ["*", true],
  ])("answers for %s with %s", (header, expected) => {
    expect(noneMatchHolds(header, '"3"')).toBe(expected);
  });
});

describe("contentTag", () => {
  it("is a strong tag that differs with the content, and holds nothing of it", () => {
    expect(contentTag("[1]")).toMatch(/^"[\w-]{27}"$/);
    expect(contentTag("[1]")).toBe(contentTag("[1]"));
    expect(contentTag("[1]")).not.toBe(contentTag("[2]"));
  });
});
