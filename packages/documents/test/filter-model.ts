import fc from "fast-check";

type Json = boolean | number | string | null | Json[] | { [name: string]: Json };
type Document = Record<string, unknown>;
type Scalar = boolean | number | string | null;

/** Tells what a filter means, in the plainest words. */
export function matches(candidate: unknown, where: unknown): boolean {
  return Object.entries(Object(where)).every(([key, value]) => {
    if (key === "and") return list(value).every((item) => matches(candidate, item));
    if (key === "or") return list(value).some((item) => matches(candidate, item));
    if (key === "not") return !matches(candidate, value);
    const path = key.split(".");
    const found = path.reduce<unknown>(step, candidate);
    if (typeof value !== "object" || value === null) return equal(found, value);
    return Object.entries(value).every(([operator, operand]) => {
      if (operator === "contains") return membersAt(candidate, path).includes(operand);
      if (operator === "containsAny") {
        return membersAt(candidate, path).some((member) => list(operand).includes(member));
      }
      return holds(found, operator, operand);
    });
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

/** Returns the members of lists at a path, which may lead through lists. */
function membersAt(candidate: unknown, path: readonly string[]): readonly unknown[] {
  const plain = path.reduce<unknown>(step, candidate);
  if (plain !== undefined && !Array.isArray(plain)) return [];
  let found: readonly unknown[] = [candidate];
  for (const name of path) found = found.flatMap((value) => membersOrItself(step(value, name)));
  return found;
}

function membersOrItself(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
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

// Few names and values, so that they meet, and those that engines confuse.

const names = [
  "a",
  "a",
  "a",
  "a",
  "a",
  "a",
  "b",
  "c",
  "x'y",
  'x"y',
  "__proto__",
  "é",
  "[0]",
  "0",
  "constructor",
  "a\\b",
];
/** Values that an engine could take for one another. */
export const confusable: readonly Json[] = [
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
  1125437519286860400,
  "",
  "a",
  "ab",
  "b",
  "1",
  "0",
  "1.0",
  "true",
  "null",
  "NULL",
  "[]",
  "{}",
  '{"c":1}',
  "[1]",
  "[",
  "{",
  "|",
  "\\",
  "]",
  "Z",
  "z",
  "~",
  "é",
  "\u{10ffff}",
  "a\u{10ffff}",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "😀",
  "😁",
  "%",
  "_",
  "'",
  '"',
  "\u001f",
  "\u007f",
  [],
  {},
  [1],
  { c: 1 },
  ["a"],
  [null],
  [true, 0, "[1]", "a"],
  [[1], { c: 1 }, "1", 1125437519286860400],
  { c: true, a: { c: "a" } },
];

const text = fc.oneof(
  fc.constantFrom(...confusable.filter((item) => typeof item === "string")),
  fc
    .string({ unit: "grapheme", maxLength: 3 })
    .filter((value) => value.isWellFormed() && !value.includes("\0")),
);
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  text,
  fc.constantFrom(true, false, 0, 1),
  fc.constantFrom(...confusable.filter((item) => item === null || typeof item !== "object")),
);
const value: fc.Arbitrary<Json> = fc.oneof(scalar, fc.constantFrom(...confusable));
const nested = fc.dictionary(fc.constantFrom("a", "c"), value);
/** Documents of few names and values. */
export const document: fc.Arbitrary<Document> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...names),
      fc.oneof(value, nested, fc.array(fc.oneof(scalar, nested), { maxLength: 3 })),
    ),
    { maxLength: 5 },
  )
  .map((entries) => Object.fromEntries(entries));
const path = fc.oneof(
  fc.constantFrom(...names),
  fc.constantFrom("b.c", "a.c", "b.a.c", "x'y.a", "__proto__.c", "a.0"),
);
const comparable = scalar.filter((item) => typeof item === "string" || typeof item === "number");
const operator = fc.oneof(
  ...["eq", "ne"].map((name) => fc.tuple(fc.constant(name), scalar)),
  ...["gt", "gte", "lt", "lte"].map((name) => fc.tuple(fc.constant(name), comparable)),
  fc.tuple(fc.constant("contains"), scalar),
  ...["in", "notIn", "containsAny"].map((name) =>
    fc.tuple(fc.constant(name), fc.array(scalar, { maxLength: 4 })),
  ),
  fc.tuple(fc.constant("exists"), fc.boolean()),
  fc.tuple(fc.constant("prefix"), text),
);
const operators = fc
  .array(operator, { minLength: 1, maxLength: 2 })
  .map((entries) => Object.fromEntries(entries));
const condition = fc
  .array(fc.tuple(path, fc.oneof(scalar, operators)), { maxLength: 2 })
  .map((entries) => Object.fromEntries(entries));
const { filter: anyFilter } = fc.letrec<{ filter: Document }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc.record({ and: fc.array(tie("filter"), { maxLength: 2 }) }),
    fc.record({ or: fc.array(tie("filter"), { maxLength: 3 }) }),
    fc.record({ not: tie("filter") }),
  ),
}));

/** Filters over the names and values of {@link document}. */
export const filter: fc.Arbitrary<Document> = anyFilter;
