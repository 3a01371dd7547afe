import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineCollection } from "../src/index.ts";
import { toJsonText } from "../src/document/json-text.ts";
import { openInMemory } from "./open-for-test.ts";

const things = defineCollection("things");

const cycle: Record<string, unknown> = { list: [] };
cycle["list"] = [1, { back: cycle }];
const nested = (levels: number): unknown =>
  Array.from({ length: levels }).reduce<unknown>((inner) => ({ a: inner }), 1);

const refused: readonly (readonly [text: string, document: unknown, code: string, path: string])[] =
  [
    ["a list", [], "VALUE", ""],
    ["null", null, "VALUE", ""],
    ["a string", "{}", "VALUE", ""],
    ["a class instance", new Map(), "VALUE", ""],
    ["NaN", { a: { b: Number.NaN } }, "VALUE", "a.b"],
    ["infinity", { a: [1, [Number.NEGATIVE_INFINITY]] }, "VALUE", "a[1][0]"],
    ["a bigint", { a: 1n }, "VALUE", "a"],
    ["a function", { a: { toJSON: () => 1 } }, "VALUE", "a.toJSON"],
    ["a symbol", { a: Symbol("x") }, "VALUE", "a"],
    ["a date", { at: new Date(0) }, "VALUE", "at"],
    ["a set", { a: new Set([1]) }, "VALUE", "a"],
    ["bytes", { a: new Uint8Array(2) }, "VALUE", "a"],
    ["undefined in a list", { a: [1, undefined] }, "VALUE", "a[1]"],
    ["a hole in a list", { a: Array.from({ length: 2 }).fill(1, 1) }, "VALUE", "a[0]"],
    ["a cycle", cycle, "VALUE", "list[1].back"],
    ["a lone surrogate", { a: "x\ud800" }, "VALUE", "a"],
    ["a NUL", { a: ["\0"] }, "VALUE", "a[0]"],
    ["201 levels", nested(201), "VALUE", `${"a.".repeat(60)}…`],
    ["16 MiB of text", { a: "é".repeat(8 * 1024 * 1024) }, "VALUE", ""],
    ["an id", { id: "x" }, "NAME", "id"],
    ["a version", { version: 1 }, "NAME", "version"],
    ["a time", { createdAt: "x" }, "NAME", "createdAt"],
    ["another time", { updatedAt: undefined }, "NAME", "updatedAt"],
    ["a dollar", { $set: {} }, "NAME", "$set"],
    ["a NUL in a name", { a: { "b\0": 1 } }, "NAME", "a"],
    ["a lone surrogate in a name", { "\udfff": 1 }, "NAME", ""],
  ];

describe("A document", () => {
  it.each([
    [5, "a number"],
    [Number.POSITIVE_INFINITY, "an infinite number"],
  ])("is told apart from %d", (document, kind) => {
    expect(() => toJsonText(document)).toThrow(`a document must be a plain object, got ${kind}`);
  });

  it.each(refused)("with %s is refused, with the place", async (_text, document, code, path) => {
    const collection = (await openInMemory()).collection(things);
    const result: unknown = Reflect.apply(collection.insert, collection, [document]);
    await expect(result).rejects.toMatchObject({ code: `ERR_DOCUMENTS_${code}`, path });
    expect(await collection.count()).toBe(0);
  });

  it("is refused by every way in", async () => {
    const collection = (await openInMemory()).collection(things);
    const { id } = await collection.insert({ a: 1 });
    const code = { code: "ERR_DOCUMENTS_VALUE" };
    const bad = { a: Number.NaN };
    await expect(collection.insertMany([{}, bad])).rejects.toMatchObject(code);
    await expect(collection.update(id, bad)).rejects.toMatchObject(code);
    await expect(collection.update(id, () => bad)).rejects.toMatchObject(code);
    await expect(collection.replace(id, bad)).rejects.toMatchObject(code);
    await expect(collection.update(id, { id: "x" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_NAME",
    });
    expect(await collection.find()).toMatchObject([{ id, a: 1, version: 1 }]);
  });

  it("shows no value in a message", () => {
    for (const [, document] of refused) {
      try {
        toJsonText(document);
      } catch (error) {
        expect(String(error).length).toBeLessThan(300);
      }
    }
    expect(() => toJsonText({ password: "secret\0" })).toThrow(/^(?!.*secret).*password/);
  });

  it("may hold one object in two places", async () => {
    const collection = (await openInMemory()).collection(things);
    const shared = { x: [1] };
    const stored = await collection.insert({ a: shared, b: [shared, shared] });
    expect(stored).toMatchObject({ a: shared, b: [shared, shared] });
  });

  it("may be 100 levels deep and hold 16 MiB", async () => {
    const collection = (await openInMemory()).collection(things);
    const deep = { a: nested(100) };
    const large = { a: "x".repeat(16 * 1024 * 1024 - 8) };
    const [first, second] = await collection.insertMany([deep, large]);
    expect(await collection.get(first?.id ?? "")).toMatchObject(deep);
    expect((await collection.get(second?.id ?? ""))?.["a"]).toBe(large.a);
  });

  it("keeps names that other stores take for something else", async () => {
    const collection = (await openInMemory()).collection(things);
    const document: unknown = JSON.parse(
      '{"__proto__":{"x":1},"constructor":2,"a.b":3,"a":{"b":4,"$ref":"#","c.d":5,"id":6,"":7},"":8,"and":9,"then":10}',
    );
    const { id } = await collection.insert(Object(document));
    const found = await collection.get(id);
    expect(JSON.stringify(found)).toContain(JSON.stringify(document).slice(1));
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(await collection.count({ where: { "a.b": 4 } })).toBe(1);
    expect(await collection.count({ where: { "a.b": 3 } })).toBe(0);
    expect(await collection.count({ where: { "__proto__.x": 1 } })).toBe(1);
    const [whole] = await collection.find({ fields: ["__proto__"] });
    expect(JSON.stringify(whole)).toBe(`{"id":"${id}","__proto__":{"x":1}}`);
    const [projected] = await collection.find({ fields: ["__proto__.x", "constructor"] });
    expect(JSON.stringify(projected)).toBe(`{"id":"${id}","__proto__":{"x":1},"constructor":2}`);
    const changed = await collection.update(id, Object(JSON.parse('{"__proto__":{"y":2}}')));
    expect(JSON.stringify(changed)).toContain('"__proto__":{"y":2}');
    expect(Reflect.get({}, "y")).toBeUndefined();
  });

  it("comes back as JSON would bring it back", async () => {
    const collection = (await openInMemory({ collections: [things] })).collection(things);
    const isClean = (json: string): boolean => !/\\u0000|\\ud[89a-f]/i.test(json);
    const document = fc
      .dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }))
      .filter(
        (value) =>
          isClean(JSON.stringify(value)) &&
          !Object.keys(value).some((key) => /^(\$|id$|version$|(cre|upd)atedAt$)/.test(key)),
      );
    await fc.assert(
      fc.asyncProperty(document, async (value) => {
        const { id } = await collection.insert(value);
        const found = await collection.get(id);
        const expected: unknown = JSON.parse(JSON.stringify(value));
        const {
          id: _id,
          version: _version,
          createdAt: _created,
          updatedAt: _updated,
          ...fields
        } = found ?? {};
        expect(fields).toEqual(expected);
        expect(await collection.find({ where: { id } })).toEqual([found]);
      }),
      { numRuns: 200 },
    );
  });
});
