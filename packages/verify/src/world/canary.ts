import { isObject } from "@fetchwork/kit";
import type { JsonSchema } from "@fetchwork/rest";

const mark = /zq\d{6,7}xv/gi;
const firstNumber = 7_000_000;
const numberMark = /(?<![\d.])7\d{6}(?![\d.])/g;

/**
 * Makes a value that a schema takes and, where possible, no other document has:
 * a marked text or a large number.
 *
 * @param number - Another one for each value.
 */
export function canaryOf(schema: JsonSchema, number: number): unknown {
  const choices = (schema["anyOf"] ?? schema["oneOf"] ?? schema["allOf"]) as
    readonly JsonSchema[] | undefined;
  const choice = choices?.find(({ type }) => type !== "null");
  const { anyOf: _any, oneOf: _one, allOf: _all, ...plain } = schema;
  if (choice) return canaryOf({ ...plain, ...choice }, number);
  if ("const" in schema) return schema["const"];
  const [word] = choicesOf(schema);
  if (word !== undefined) return word;
  switch (typeOf(schema)) {
    case "integer":
    case "number":
      return numberOf(schema, number);
    case "array":
      return listOf(schema, number);
    case "object": {
      const properties = Object.entries(propertiesOf(schema));
      return Object.fromEntries(properties.map(([name, one]) => [name, canaryOf(one, number)]));
    }
    default:
      return textOf(schema, number);
  }
}

/** Values that a schema chooses from: members of an enum, or both booleans. */
export function choicesOf(schema: JsonSchema): readonly unknown[] {
  if (Array.isArray(schema["enum"])) return schema["enum"] as readonly unknown[];
  return typeOf(schema) === "boolean" ? [true, false] : [];
}

/** The schemas of the fields of an object. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema["properties"] ?? {}) as Record<string, JsonSchema>;
}

/** A value like another one, for fields whose schema is not known. */
export function canaryLike(value: unknown, number: number): unknown {
  if (typeof value === "string") return canaryOf({ type: "string" }, number);
  if (typeof value === "number") return firstNumber + number;
  return value;
}

/** Every marked text and number in a text, or in a value as JSON, in lower case. */
export function marksIn(value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const found = [...text.matchAll(mark), ...text.matchAll(numberMark)];
  return [...new Set(found.map(([one]) => one.toLowerCase()))];
}

function typeOf({ type }: JsonSchema): unknown {
  return Array.isArray(type) ? (type as unknown[]).find((one) => one !== "null") : type;
}

function numberOf(schema: JsonSchema, number: number): number {
  const limits = schema as Readonly<Record<string, number | undefined>>;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf = 1 } = limits;
  const wanted = Math.ceil((firstNumber + number) / multipleOf) * multipleOf;
  const highest =
    maximum ?? (exclusiveMaximum === undefined ? Infinity : exclusiveMaximum - multipleOf);
  if (wanted <= highest) return wanted;
  const lowest = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + multipleOf);
  const room = Math.max(1, Math.floor((highest - lowest) / multipleOf) + 1);
  return lowest + (number % room) * multipleOf;
}

function listOf(schema: JsonSchema, number: number): readonly unknown[] {
  const { items, minItems = 0, maxItems = 1 } = schema;
  if (!isObject(items)) return [];
  const length = Math.max(Number(minItems), Math.min(1, Number(maxItems)));
  return Array.from({ length }, (_, index) => canaryOf(items, number + index * 100_000));
}

function textOf(schema: JsonSchema, number: number): unknown {
  const { maxLength = Infinity, minLength = 0 } = schema as Readonly<Record<string, number>>;
  const { format = "", pattern = "" } = schema as Readonly<Record<string, string>>;
  const { examples = [] } = schema as { readonly examples?: readonly unknown[] };
  const digits = String(number).padStart(6, "0");
  const text = `zq${digits}xv`;
  const time = new Date(Date.UTC(2020, 0, 1) + number * 86_400_000).toISOString();
  const formats: Readonly<Record<string, string>> = {
    email: `${text}@example.com`,
    uri: `https://${text}.example/`,
    uuid: `00000000-0000-4000-8000-${digits.padStart(12, "0")}`,
    date: time.slice(0, 10),
    "date-time": time,
  };
  const known = formats[format];
  if (known !== undefined) return known;
  // The end of the number tells documents apart where there is no room for all of it.
  const short = digits.slice(-Math.max(1, maxLength));
  const candidates = [text.padEnd(minLength, "x"), short, text.toUpperCase(), `${digits}00`, "ab"];
  const shape = new RegExp(pattern, "u");
  const fits = candidates.find(
    (one) => one.length >= minLength && one.length <= maxLength && shape.test(one),
  );
  return fits ?? examples[number % examples.length] ?? short;
}
