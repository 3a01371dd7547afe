import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListReader } from "../../src/plan/list-query.ts";
import { Problem } from "../../src/problem.ts";
import type { ListRules } from "../../src/resource/list-rules.ts";

const rules: ListRules = {
  sortable: ["title", "id", "createdAt", "updatedAt"],
  selectable: ["id", "title", "content", "createdAt"],
  defaultSort: ["-createdAt"],
};

function parse(text: string): unknown {
  return createListReader(rules)(new URLSearchParams(text));
}

function refusal(text: string): unknown {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof Problem) return error.errors.map(({ param, name }) => [param, name]);
    throw error;
  }
  throw new Error("nothing was refused");
}

const defaults = { q: undefined, page: 1, limit: 30, sort: ["-createdAt"], fields: undefined };

describe("createListReader", () => {
  it("refuses a cursor in the order of a field that is not shown, whose values it would tell", () => {
    expect(parse("sort=title&after=")).toMatchObject({ after: "" });
    expect(parse("sort=updatedAt")).toMatchObject({ sort: ["updatedAt"] });
    expect(refusal("sort=updatedAt&after=")).toEqual([["after", "invalid"]]);
  });

  it.each([
    ["page=0", "page", "min"],
    ["page=-1", "page", "min"],
    ["page=x", "page", "type"],
    ["page=1.5", "page", "type"],
    ["page=1e300", "page", "max"],
    ["page=NaN", "page", "type"],
    ["page=Infinity", "page", "max"],
    ["page=1&page=2", "page", "once"],
    ["limit=0", "limit", "min"],
    ["limit=101", "limit", "max"],
    ["limit=%20", "limit", "min"],
    ["limit=ten", "limit", "type"],
    ["sort=password", "sort", "enum"],
    ["sort=--title", "sort", "enum"],
    ["sort=__proto__", "sort", "enum"],
    ["fields=passwordHash", "fields", "enum"],
    ["fields=idx", "fields", "enum"],
    ["fields=title,-content", "fields", "mixed"],
    [`q=${"x".repeat(201)}`, "q", "maxlength"],
  ])("refuses %s", (text, param, name) => {
    expect(refusal(text)).toEqual([[param, name]]);
  });

  it("names all parameters that it refuses", () => {
    expect(refusal("page=0&limit=0&sort=x")).toEqual([
      ["page", "min"],
      ["limit", "min"],
      ["sort", "enum"],
    ]);
  });

  it.each([
    ["", {}],
    ["page=&limit=&sort=&fields=&q=", {}],
    ["q=Foo Bar", { q: "Foo Bar" }],
    ["page=2&limit=10", { page: 2, limit: 10 }],
    ["limit=100", { limit: 100 }],
    ["limit=0x10", { limit: 16 }],
    ["page=31", { page: 31 }],
    ["sort=title", { sort: ["title"] }],
    ["sort=%2Btitle", { sort: ["title"] }],
    ["sort=+title", { sort: ["title"] }],
    ["sort=-title,createdAt", { sort: ["-title", "createdAt"] }],
    ["sort=title&sort=-id", { sort: ["title", "-id"] }],
    ["sort=title,-title", { sort: ["title"] }],
    ["fields=title", { fields: ["id", "title"] }],
    ["fields=title,-id", { fields: ["title"] }],
    ["fields=-content", { fields: ["id", "title", "createdAt"] }],
    ["fields=-id", { fields: ["title", "content", "createdAt"] }],
    ["fields=createdAt, title", { fields: ["id", "title", "createdAt"] }],
  ])("understands %s", (text, expected) => {
    expect(parse(text)).toEqual({ ...defaults, ...expected });
  });

  it("either refuses with 400 or yields what the rules allow, for any query", () => {
    const name = fc.constantFrom("q", "page", "limit", "sort", "fields");
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string({ unit: "binary" }))), (pairs) => {
        try {
          const query = createListReader(rules)(new URLSearchParams(pairs));
          expect(query.limit >= 1 && query.limit <= 100).toBe(true);
          expect(Number.isSafeInteger((query.page - 1) * query.limit)).toBe(true);
          for (const key of query.sort) expect(rules.sortable).toContain(key.replace(/^-/, ""));
          for (const field of query.fields ?? []) expect(rules.selectable).toContain(field);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
    );
  });
});
