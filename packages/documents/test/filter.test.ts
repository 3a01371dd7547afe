import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineCollection } from "../src/index.ts";
import { openInMemory } from "./open-for-test.ts";

type Json = boolean | number | string | null | Json[] | { [name: string]: Json };
type Document = Record<string, unknown>;
type Scalar = boolean | number | string | null;

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

describe("A filter", () => {
  it.each(refused)("with %s is refused", async (_text, where) => {
    const collection = (await openInMemory()).collection(things);
    for (const method of [collection.find, collection.count, collection.removeMany]) {
      const result: unknown = Reflect.apply(method, collection, [{ where }]);
      await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    }
  });

  it("is required to remove documents", async () => {
    const collection = (await openInMemory()).collection(things);
    const result: unknown = Reflect.apply(collection.removeMany, collection, [{}]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("compares the fields that the store keeps like any other", async () => {
    const collection = (await openInMemory()).collection(things);
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

  it("may have 500 conditions, of every kind", async () => {
    const collection = (await openInMemory()).collection(things);
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
    const collection = (await openInMemory()).collection(things);
    await collection.insertMany([{ a: 9999 }, { a: -1 }, { a: "5" }]);
    const list = Array.from({ length: 10_000 }, (_, index) => index);
    expect(await collection.count({ where: { a: { in: list } } })).toBe(1);
    expect(await collection.count({ where: { a: { notIn: list } } })).toBe(2);
  });

  it("matches what a plain filter in memory matches", async () => {
    const collection = (await openInMemory({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { maxLength: 12 }),
        fc.array(filter, { maxLength: 8 }),
        async (documents, filters) => {
          await collection.removeMany({ where: {} });
          const stored = await collection.insertMany(documents);
          for (const where of filters) {
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
      { numRuns: 150 },
    );
  });

  it("distinguishes any two numbers that JavaScript does", async () => {
    const collection = (await openInMemory({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(fc.double({ noDefaultInfinity: true, noNaN: true }), async (number) => {
        await collection.removeMany({ where: {} });
        await collection.insert({ a: number });
        expect(await collection.count({ where: { a: number } })).toBe(1);
        expect(await collection.count({ where: { a: { gte: number, lte: number } } })).toBe(1);
        expect(await collection.count({ where: { a: { gt: number } } })).toBe(0);
        expect(await collection.count({ where: { a: { in: [number, "x"] } } })).toBe(1);
      }),
      { numRuns: 300 },
    );
  });
});

// The model: what a filter means, in the plainest words.

function matches(candidate: unknown, where: unknown): boolean {
  return Object.entries(Object(where)).every(([key, value]) => {
    if (key === "and") return list(value).every((item) => matches(candidate, item));
    if (key === "or") return list(value).some((item) => matches(candidate, item));
    if (key === "not") return !matches(candidate, value);
    const found = key.split(".").reduce<unknown>(step, candidate);
    if (typeof value !== "object" || value === null) return equal(found, value);
    return Object.entries(value).every(([operator, operand]) => holds(found, operator, operand));
  });
}

function holds(found: unknown, operator: string, operand: unknown): boolean {
  switch (operator) {
    case "eq":
      return equal(found, operand);
    case "ne":
      return !equal(found, operand);
    case "in":
      return list(operand).some((item) => equal(found, item));
    case "notIn":
      return !list(operand).some((item) => equal(found, item));
    case "exists":
      return (found !== undefined) === operand;
    case "prefix":
      return typeof found === "string" && found.startsWith(String(operand));
    case "gt":
      return compare(found, operand, (order) => order > 0);
    case "gte":
      return compare(found, operand, (order) => order >= 0);
    case "lt":
      return compare(found, operand, (order) => order < 0);
    default:
      return compare(found, operand, (order) => order <= 0);
  }
}

function step(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function equal(found: unknown, operand: unknown): boolean {
  return operand === null ? found === null || found === undefined : found === operand;
}

function compare(found: unknown, operand: unknown, test: (order: number) => boolean): boolean {
  if (typeof found === "number" && typeof operand === "number") return test(found - operand);
  if (typeof found !== "string" || typeof operand !== "string") return false;
  return test(Buffer.compare(Buffer.from(found), Buffer.from(operand)));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

// What is generated: few names and values, so that they meet, and those that engines confuse.

const names = ["a", "b", "c", "x'y", 'x"y', "__proto__", "é", "[0]", "0", "constructor", "a\\b"];
const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "ab",
    "1",
    "0",
    "true",
    "null",
    "[]",
    "{}",
    '{"c":1}',
    "[1]",
    "\u{10ffff}",
    "\ud7ff",
    "\ue000",
    "😀",
    "%",
    "_",
    "\\",
    "'",
    "|",
    "\u001f",
  ),
  fc
    .string({ unit: "grapheme", maxLength: 3 })
    .filter((value) => value.isWellFormed() && !value.includes("\0")),
);
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  fc.constantFrom(
    null,
    true,
    false,
    0,
    1,
    2,
    -1,
    0.5,
    1e300,
    -1e-7,
    2 ** 53,
    2 ** 63,
    12345678901234567000,
  ),
);
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>([], {}, [1], { c: 1 }, ["a"], { c: true, a: { c: "a" } }),
  },
);
const document: fc.Arbitrary<Document> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...names),
      fc.oneof(value, fc.dictionary(fc.constantFrom("a", "c"), value)),
    ),
    { maxLength: 5 },
  )
  .map((entries) => Object.fromEntries(entries));
const path = fc.oneof(
  fc.constantFrom(...names),
  fc.constantFrom("b.c", "a.c", "b.a.c", "x'y.a", "__proto__.c", "a.0"),
);
const comparable = scalar.filter((item) => typeof item === "string" || typeof item === "number");
const operators = fc
  .record(
    {
      eq: scalar,
      ne: scalar,
      gt: comparable,
      gte: comparable,
      lt: comparable,
      lte: comparable,
      in: fc.array(scalar, { maxLength: 4 }),
      notIn: fc.array(scalar, { maxLength: 4 }),
      exists: fc.boolean(),
      prefix: text,
    },
    { requiredKeys: [] },
  )
  .map((all) => Object.fromEntries(Object.entries(all).slice(0, 3)))
  .filter((some) => Object.keys(some).length > 0);
const condition = fc
  .array(fc.tuple(path, fc.oneof(scalar, operators)), { maxLength: 2 })
  .map((entries) => Object.fromEntries(entries));
const { filter } = fc.letrec<{ filter: Document }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc.record({ and: fc.array(tie("filter"), { maxLength: 2 }) }),
    fc.record({ or: fc.array(tie("filter"), { maxLength: 3 }) }),
    fc.record({ not: tie("filter") }),
  ),
}));
