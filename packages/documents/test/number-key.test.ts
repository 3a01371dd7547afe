import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePath } from "../src/api/field-path.ts";
import { keyOf, numberKey } from "../src/engines/postgres/statements/keys.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

const numberList = [
  0,
  1,
  -1,
  9,
  10,
  11,
  -9,
  -10,
  -11,
  0.1,
  0.05,
  0.005,
  0.15,
  -0.1,
  -0.05,
  -0.15,
  1.5,
  1.25,
  -1.5,
  -1.25,
  99.9,
  100,
  100.1,
  -99.9,
  -100,
  -100.1,
  1e21,
  1e-7,
  123e-10,
  -1e21,
  -1e-7,
  5e-324,
  -5e-324,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 64,
  2 ** -1022,
  0.1 + 0.2,
];

/** The keys that the server makes of JSON texts of numbers. */
async function serverKeys(texts: readonly string[]): Promise<readonly string[]> {
  // JSON keeps the text as it is written, which JSONB does not.
  const key = keyOf(parsePath("n")).replaceAll("jsonb_typeof", "json_typeof");
  const rows = texts.map((text, place) => `(${place}, '{"n":${text}}'::json)`).join(", ");
  const found = await runSql(
    await newDatabase(),
    `SELECT ${key} AS key FROM (VALUES ${rows}) AS given (place, doc) ORDER BY place`,
  );
  return found.map((row) => String(Object(row).key));
}

function compare<T extends number | string>(one: T, other: T): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

describe("The key of a number", () => {
  it("is in the order of the numbers, and the same for the same", () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.constantFrom(...numberList),
    );
    fc.assert(
      fc.property(number, number, (one, other) => {
        const order = compare(one + 0, other + 0);
        expect(compare(numberKey(one), numberKey(other))).toBe(order);
      }),
    );
  });

  it.skipIf(noPostgres !== undefined)("is what the server makes of it", async () => {
    const random = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), 300);
    const numbers = [...numberList, ...random.map((number) => number + 0)];
    const keys = await serverKeys(numbers.map((number) => JSON.stringify(number)));
    expect(keys).toEqual(numbers.map((number) => numberKey(number)));
  });
});
