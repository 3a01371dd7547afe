import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergePatch } from "../../src/operations/merge-patch.ts";

describe("mergePatch", () => {
  // The test cases of RFC 7396, appendix A.
  it.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("merges into %j the patch %j", (target, patch, expected) => {
    expect(JSON.parse(JSON.stringify(mergePatch(target, patch)))).toEqual(expected);
  });

  it("treats __proto__ as a name like others", () => {
    const patch: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const merged = mergePatch({}, patch);
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"polluted":true}}');
    expect({}).not.toHaveProperty("polluted");
  });

  it("changes neither of its arguments", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
        const before = JSON.stringify([target, patch]);
        mergePatch(target, patch);
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
    );
  });
});
