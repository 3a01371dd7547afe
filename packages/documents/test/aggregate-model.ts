import fc from "fast-check";
import { confusable } from "./filter-model.ts";

type Scalar = boolean | number | string | null;

/** Returns what a path leads to; it stops at lists. */
export function at(document: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
  }, document);
}

/** Groups documents in the plainest way. */
export function aggregate(
  documents: readonly unknown[],
  by: readonly string[],
  values: Readonly<Record<string, unknown>>,
): readonly Record<string, unknown>[] {
  const groups = new Map<string, { keys: readonly Scalar[]; documents: unknown[] }>();
  if (by.length === 0) groups.set("[]", { keys: [], documents: [] });
  for (const document of documents) {
    const keys = by.map((path) => scalar(at(document, path)));
    const text = JSON.stringify(keys);
    const group = groups.get(text) ?? { keys, documents: [] };
    groups.set(text, group);
    group.documents.push(document);
  }
  return [...groups.values()].toSorted(compareKeys).map((group) => ({
    ...Object.fromEntries(by.map((path, index) => [path, group.keys[index]])),
    ...Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, compute(group.documents, value)]),
    ),
  }));
}

/** Returns the different members of a field in order. */
export function distinct(documents: readonly unknown[], path: string): Scalar[] {
  const members = new Set<Scalar>();
  for (const document of documents) {
    const value = at(document, path);
    for (const member of Array.isArray(value) ? value : [value]) members.add(scalar(member));
  }
  members.delete(null);
  return [...members].toSorted(compare);
}

function compute(documents: readonly unknown[], value: unknown): unknown {
  if (value === "count") return documents.length;
  const [[kind, path] = ["", ""]] = Object.entries(Object(value));
  const found = documents.map((document) => at(document, String(path)));
  const numbers = found.filter((each) => typeof each === "number");
  const strings = found.filter((each) => typeof each === "string").toSorted(compare);
  const sorted = numbers.toSorted((one, other) => one - other);
  const sum = exactSum(numbers);
  if (kind === "sum") return sum;
  if (kind === "avg") return numbers.length === 0 ? null : sum / numbers.length;
  if (kind === "min") return sorted[0] ?? strings[0] ?? null;
  return strings.at(-1) ?? sorted.at(-1) ?? null;
}

/** Adds numbers as fractions of 10^400. */
function exactSum(numbers: readonly number[]): number {
  let total = 0n;
  for (const number of numbers) {
    const [mantissa = "", exponent = ""] = number.toExponential().split("e");
    const digits = mantissa.replace(".", "");
    const places = digits.replace("-", "").length - 1;
    total += BigInt(digits) * 10n ** BigInt(400 + Number(exponent) - places);
  }
  return Number(`${total}e-400`);
}

function scalar(value: unknown): Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : null;
}

function compareKeys(one: { keys: readonly Scalar[] }, other: { keys: readonly Scalar[] }): number {
  for (const [index, key] of one.keys.entries()) {
    const order = compare(key, other.keys[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compare(one: Scalar, other: Scalar): number {
  const rank = (value: Scalar): number => (value === null ? 0 : typeof value === "string" ? 2 : 1);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  if (typeof one === "string") return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  return (
    Number(one) - Number(other) ||
    Number(one === true || one === false) - Number(typeof other === "boolean")
  );
}

const paths = ["a", "b", "b.c", "c", "é", "version"] as const;

/** Fields of the documents of the filter model, and some that engines could confuse. */
export const path = fc.constantFrom<string>(...paths);

const prices = fc.oneof(
  fc.constantFrom(...confusable.filter((each) => typeof each === "number")),
  fc.integer({ min: -1000, max: 1000 }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => cents / 100),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }),
  fc.double({ noNaN: true, min: -10, max: 10 }),
);

/** Numbers whose sums are easily wrong. */
export const price = prices.map((number) => (number === 0 ? 0 : number));

/** Values of groups. */
export const values = fc
  .array(
    fc.oneof(
      fc.constant("count" as const),
      ...(["sum", "avg", "min", "max"] as const).map((kind) =>
        fc.oneof(path, fc.constant("price")).map((field) => ({ [kind]: field })),
      ),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((list) => Object.fromEntries(list.map((value, index) => [`v${index}`, value])));
