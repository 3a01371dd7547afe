import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineCollection, type UntypedWhere } from "../../src/index.ts";
import { confusable, document, filter, matches } from "../filter-model.ts";
import { enginesOfFile, findsQuotedNames } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const things = defineCollection<Document>("things", { indexes: ["a", "b.c", ["b", "a"]] });

const refused: readonly (readonly [text: string, where: unknown])[] = [
  ["an undefined value", { a: undefined }],
  ["an undefined operand", { a: { gt: undefined } }],
  ["no operator", { a: {} }],
  ["an unknown operator", { a: { regex: ".*" } }],
  ["an operator with a dollar", { a: { $gt: 1 } }],
  ["a list as a value", { a: [1] }],
  ["an object as an operand", { a: { eq: { b: 1 } } }],
  ["NaN", { a: Number.NaN }],
  ["infinity", { a: { gt: Number.POSITIVE_INFINITY } }],
  ["a bigint", { a: 1n }],
  ["a date", { a: new Date(0) }],
  ["a boolean in a range", { a: { gt: true } }],
  ["null in a range", { a: { lt: null } }],
  ["a list that is none", { a: { in: "abc" } }],
  ["a too long list", { a: { in: Array.from({ length: 10_001 }, () => 1) } }],
  ["contains of a list", { a: { contains: [1] } }],
  ["containsAny of a value", { a: { containsAny: 1 } }],
  ["exists of a number", { a: { exists: 1 } }],
  ["a prefix that is a number", { a: { prefix: 1 } }],
  ["and of an object", { and: {} }],
  ["or of values", { or: [1] }],
  ["not of a list", { not: [] }],
  ["a field with a dollar", { $where: "1" }],
  ["an empty part of a path", { "a..b": 1 }],
  ["a NUL in a field", { "a\0": 1 }],
  ["a lone surrogate in a field", { "\ud800": 1 }],
  ["a NUL in a value", { a: "\0" }],
  ["a lone surrogate in a value", { a: { prefix: "\udc00" } }],
  ["a path of 33 parts", { [Array.from({ length: 33 }, () => "a").join(".")]: 1 }],
  ["too many conditions", { or: Array.from({ length: 501 }, () => ({ a: 1 })) }],
  ["too deep nesting", Array.from({ length: 40 }).reduce<unknown>((not) => ({ not }), {})],
];

describe.each(engines)("A filter of %s", (engine, open) => {
  it.each(refused)("with %s is refused", async (_text, where) => {
    const collection = (await open()).collection(things);
    for (const method of [collection.find, collection.count, collection.removeMany]) {
      const result: unknown = Reflect.apply(method, collection, [{ where }]);
      await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    }
  });

  it("is required to remove documents", async () => {
    const collection = (await open()).collection(things);
    const result: unknown = Reflect.apply(collection.removeMany, collection, [{}]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("compares the fields that the store keeps like any other", async () => {
    const collection = (await open()).collection(things);
    const { id, createdAt } = await collection.insert({ a: 1 });
    await collection.insert({ a: 2 });
    await collection.update(id, { a: 3 });
    const count = (where: Document) => collection.count(Object.fromEntries([["where", where]]));
    expect(await count({ id })).toBe(1);
    expect(await count({ id: { in: [id, "none", 1] } })).toBe(1);
    expect(await count({ version: 2 })).toBe(1);
    expect(await count({ version: "2" })).toBe(0);
    expect(await count({ version: { gte: 1, lt: 2 } })).toBe(1);
    expect(await count({ version: { prefix: "2" } })).toBe(0);
    expect(await count({ createdAt: { gte: createdAt } })).toBe(2);
    expect(await count({ createdAt: { gt: 5 } })).toBe(0);
    expect(await count({ createdAt: { prefix: createdAt.slice(0, 4) } })).toBe(2);
    expect(await count({ updatedAt: { exists: true }, id: { ne: null } })).toBe(2);
    expect(await count({ id: null })).toBe(0);
  });

  it.each(["and", "or"])("A filter may have 500 conditions inside of one %s", async (group) => {
    const collection = (await open()).collection(things);
    const conditions = Array.from({ length: 500 }, (_, n) => ({ a: { ne: n } }));
    await expect(collection.count({ where: { [group]: conditions } })).resolves.toBe(0);
    await expect(
      collection.count({ where: { [group]: [...conditions, { a: 1 }] } }),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("may have 32 levels, of which a condition is one", async () => {
    const collection = (await open()).collection(things);
    const nested = (levels: number): UntypedWhere =>
      levels === 1 ? { a: 1 } : { not: nested(levels - 1) };
    await expect(collection.count({ where: nested(32) })).resolves.toBe(0);
    await expect(collection.count({ where: nested(33) })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it("may have 500 conditions, of every kind", async () => {
    const collection = (await open()).collection(things);
    const some = Array.from({ length: 41 }, (_, index) => ({
      [`f${index}`]: {
        in: [0, true, false, null, "[", "x"],
        ne: 1,
        gt: 0,
        lt: 1,
        gte: "",
        lte: "~",
      },
      [`g${index}`]: { notIn: [0, true, false, null, "[", "x"], exists: true, prefix: "" },
    }));
    const nested = Array.from({ length: 30 }).reduce<object>((not) => ({ not }), { or: some });
    await collection.insert({ a: 1 });
    for (const where of [
      { and: some },
      { or: some },
      nested,
      Object.assign({}, ...some.slice(1)),
    ]) {
      expect(await collection.count(Object.fromEntries([["where", where]]))).toBe(0);
    }
  });

  it("takes 10,000 values in a list", async () => {
    const collection = (await open()).collection(things);
    await collection.insertMany([{ a: 9999 }, { a: -1 }, { a: "5" }]);
    const list = Array.from({ length: 10_000 }, (_, index) => index);
    expect(await collection.count({ where: { a: { in: list } } })).toBe(1);
    expect(await collection.count({ where: { a: { notIn: list } } })).toBe(2);
  });

  it("tells apart all values that an engine could confuse", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const stored = await collection.insertMany([{}, ...confusable.map((a) => ({ a }))]);
    const operands = confusable.filter((value) => typeof value !== "object" || value === null);
    const conditions = operands.flatMap((operand): unknown[] => [
      { eq: operand },
      { contains: operand },
      { containsAny: [7, operand] },
      { ne: operand },
      { in: [operand, 7] },
      { notIn: [operand, "x"] },
      ...(typeof operand === "string" ? [{ prefix: operand }] : []),
      ...(typeof operand === "string" || typeof operand === "number"
        ? ["gt", "gte", "lt", "lte"].map((name) => ({ [name]: operand }))
        : []),
      ...operands
        .filter((other) => typeof other === typeof operand && typeof other !== "boolean")
        .flatMap((other) =>
          other === null
            ? []
            : [
                { gte: operand, lte: other },
                { gt: operand, lt: other },
              ],
        ),
    ]);
    for (const condition of conditions) {
      const where = { a: condition };
      const found = await collection.find(
        Object.fromEntries([
          ["where", where],
          ["sort", ["id"]],
        ]),
      );
      expect({ where, found }).toEqual({
        where,
        found: stored.filter((one) => matches(one, where)),
      });
    }
  });

  it("matches what a plain filter in memory matches", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { maxLength: 12 }),
        fc.array(filter, { maxLength: 8 }),
        async (documents, filters) => {
          await collection.removeMany({ where: {} });
          const stored = await collection.insertMany(documents);
          for (const where of filters) {
            if (!findsQuotedNames(engine) && JSON.stringify(where).includes('\\"')) continue;
            const found = await collection.find(
              Object.fromEntries([
                ["where", where],
                ["sort", ["id"]],
              ]),
            );
            expect(found).toEqual(stored.filter((candidate) => matches(candidate, where)));
            expect(await collection.count(Object.fromEntries([["where", where]]))).toBe(
              found.length,
            );
          }
        },
      ),
      { numRuns: propertyRuns(120, 500) },
    );
  });

  it("distinguishes any two numbers that JavaScript does", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(fc.double({ noDefaultInfinity: true, noNaN: true }), async (number) => {
        await collection.removeMany({ where: {} });
        await collection.insert({ a: number });
        expect(await collection.count({ where: { a: number } })).toBe(1);
        expect(await collection.count({ where: { a: { gte: number, lte: number } } })).toBe(1);
        expect(await collection.count({ where: { a: { gt: number } } })).toBe(0);
        expect(await collection.count({ where: { a: { in: [number, "x"] } } })).toBe(1);
      }),
      {
        numRuns: propertyRuns(100, 300),
        examples: [[1_125_437_519_286_860_400], [-2_026_472_649_457_997_600], [-0]],
      },
    );
  });
});
