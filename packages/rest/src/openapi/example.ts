import { isObject } from "@fetchwork/kit";
import type { JsonSchema } from "../schema.ts";

/**
 * Makes an example of what a JSON Schema describes; the same one each time. `undefined` where none is found, as for most
 * patterns: there, `examples` of the schema itself help.
 */
export function exampleOf(schema: JsonSchema): unknown {
  const { const: fixed, default: usual, enum: values, examples } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if (Array.isArray(values)) return values[0] as unknown;
  for (const alternatives of [schema["anyOf"], schema["oneOf"]]) {
    if (!Array.isArray(alternatives)) continue;
    const found = alternatives.filter(isObject).map(exampleOf);
    return found.find((one) => one !== undefined);
  }
  if (Array.isArray(schema["allOf"])) return exampleOfAll(schema["allOf"].filter(isObject));
  if (usual !== undefined && !isEmpty(usual)) return usual;
  const [type] = [schema["type"]].flat();
  switch (type) {
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(schema, type === "integer" ? 1 : undefined);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return listOf(schema);
    case "object":
      return objectOf(schema);
    default:
      return "text";
  }
}

/** Examples of all fields tell more than an empty default. */
function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && Object.keys(value ?? {}).length === 0);
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00.000Z",
  date: "2026-01-31",
  duration: "P1D",
  email: "ann@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  time: "12:00:00",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "0192f0c1-7a3e-7c3b-8f2a-5d1e4b6c7a80",
};

/** Texts that fit patterns as they are common. */
const candidates = [
  "text",
  "a",
  "A",
  "1",
  "abc",
  "ABC",
  "abc-def",
  "Abc 123",
  "123",
  "12345",
  "a1b2c3",
  "#00ff00",
  "00ff00",
  "1.0.0",
  "12:00",
  "12:00:00",
  "+441632960001",
  "dGV4dA==",
  "0192f0c1-7a3e-4c3b-8f2a-5d1e4b6c7a80",
  ...Object.values(formats),
];

function textOf(schema: JsonSchema): string | undefined {
  const { format, maxLength, minLength, pattern } = schema;
  const least = typeof minLength === "number" ? minLength : 0;
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
  const test = typeof pattern === "string" ? compile(pattern) : undefined;
  if (typeof pattern === "string" && !test) return undefined;
  const known = typeof format === "string" ? formats[format] : undefined;
  const fits = (text: string): boolean =>
    text.length >= least && text.length <= most && (!test || test.test(text));
  if (known !== undefined) return [known, ...candidates].find(fits);
  if (typeof format === "string" && !test) return undefined;
  if (test) {
    const sized = (text: string): string => text.padEnd(least, text.at(-1)).slice(0, most);
    return candidates.map(sized).find(fits);
  }
  return "text".padEnd(Math.min(least, 10_000), " text").slice(0, most);
}

function compile(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

function numberOf(schema: JsonSchema, whole: number | undefined): number | undefined {
  const { exclusiveMaximum, exclusiveMinimum, maximum, minimum, multipleOf } = schema;
  const step = typeof multipleOf === "number" ? multipleOf : (whole ?? 0.5);
  const least = typeof minimum === "number" ? minimum : Number.NEGATIVE_INFINITY;
  const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum : Number.NEGATIVE_INFINITY;
  const most = typeof maximum === "number" ? maximum : Number.POSITIVE_INFINITY;
  const below = typeof exclusiveMaximum === "number" ? exclusiveMaximum : Number.POSITIVE_INFINITY;
  const steps = (bound: number): number => Math.ceil(bound / step) * step;
  return [
    1,
    0,
    steps(least),
    steps(above) + step,
    steps(most),
    steps(below) - step,
    least,
    most,
  ].find(
    (one) =>
      Number.isFinite(one) &&
      one >= least &&
      one > above &&
      one <= most &&
      one < below &&
      Number.isInteger(one / step),
  );
}

function listOf({ items, maxItems, minItems, uniqueItems }: JsonSchema): unknown {
  const least = typeof minItems === "number" ? minItems : 0;
  const size = Math.max(least, maxItems === 0 ? 0 : 1);
  const one = exampleOf(isObject(items) ? items : {});
  if (one === undefined) return least === 0 ? [] : undefined;
  if (size > 1 && uniqueItems === true) return undefined;
  return Array.from({ length: size }, () => one);
}

function objectOf({ properties, required }: JsonSchema): unknown {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const example: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const value = isObject(property) ? exampleOf(property) : undefined;
    if (value !== undefined) example[name] = value;
  }
  return needed.every((name) => Object.hasOwn(example, String(name))) ? example : undefined;
}

function exampleOfAll(parts: readonly JsonSchema[]): unknown {
  const found = parts.map(exampleOf);
  if (found.every(isObject)) return Object.assign({}, ...found) as unknown;
  return found.length === 1 ? found[0] : undefined;
}
