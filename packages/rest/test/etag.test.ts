import { describe, expect, it } from "vitest";
import { noneMatchHolds, requireMatch } from "../src/etag.ts";
import { Problem } from "../src/problem.ts";

describe("requireMatch", () => {
  it.each(['"2"', 'W/"3"', "3", '"3', '"33"', "", '"2", W/"3"', '"1,"3'])(
    "refuses %s",
    (header) => {
      expect(() => requireMatch(header, 3)).toThrow(Problem);
    },
  );

  it.each([null, '"3"', "*", " * ", '"1", "3"', '"a,b","3"', 'W/"1" ,"3"'])(
    "accepts %s",
    (header) => {
      expect(() => requireMatch(header, 3)).not.toThrow();
    },
  );
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
    expect(noneMatchHolds(header, 3)).toBe(expected);
  });
});
