import { isObject } from "@fetchwork/kit";
import { acceptsNull, type JsonSchema } from "../schema.ts";

/** Kind of a field's values, as far as filters distinguish the kinds. */
export type FilterKind =
  | "boolean"
  | "date"
  | "integer"
  | "number"
  | "object"
  | "string"
  | "time"
  /** A time that the store keeps itself, always in UTC with milliseconds. */
  | "stored-time";

/** Type of a field as filters see it. */
export interface FilterType {
  readonly kind: FilterKind;
  /** The only values there are, as text, of an `enum` or `const`. */
  readonly values: ReadonlyMap<string, FilterScalar> | undefined;
  /** Whether the field is a list of such values. */
  readonly isList: boolean;
}

/** A value to compare a field with. */
export type FilterScalar = boolean | number | string;

/** Longest text that a field is compared with, in characters. */
const maxFilterLength = 500;

/** A field's type from its JSON Schema; `undefined` where text cannot stand for it. */
export function filterTypeOf(schema: JsonSchema): FilterType | undefined {
  const plain = withoutNull(schema);
  const items = plain["items"];
  if (plain["type"] === "array") {
    const member = isObject(items) ? filterTypeOf(items) : undefined;
    return member && !member.isList && member.kind !== "object"
      ? { ...member, isList: true }
      : { kind: "object", values: undefined, isList: false };
  }
  const values = valuesOf(plain);
  const kind = values ? "string" : kindOf(plain);
  return kind && { kind, values, isList: false };
}

/** Converts the text of a parameter; `undefined` when it does not stand for a value of the type. */
export function filterValue(text: string, type: FilterType): FilterScalar | undefined {
  if (text.length > maxFilterLength) return undefined;
  if (type.values) return type.values.get(text);
  switch (type.kind) {
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined;
    case "integer":
    case "number":
      return numberOf(text, type.kind);
    case "date":
      return isDate(text) ? text : undefined;
    case "time":
      return timeOf(text, "as sent");
    case "stored-time":
      return timeOf(text, "as stored");
    default:
      return type.kind === "string" ? text : undefined;
  }
}

/** Says which values a type has, for an error. */
export function describeType({ kind, values }: FilterType): string {
  if (values) return `must be one of: ${[...values.keys()].join(", ")}`;
  if (kind === "date") return "must be a valid date";
  if (kind === "time" || kind === "stored-time") return "must be a valid date or datetime";
  if (kind === "string") {
    return `must have length lower than or equal to ${maxFilterLength}`;
  }
  return `must be of type ${kind}`;
}

/** The rule that a wrong value breaks. */
export function ruleOf({ kind, values }: FilterType): string {
  if (values) return "enum";
  if (kind === "string") return "maxlength";
  return kind === "date" || kind === "time" || kind === "stored-time" ? "match" : "type";
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter(isObject).filter((one) => one["type"] !== "null");
    if (others.length === 1 && others[0]) return withoutNull(others[0]);
  }
  if (Array.isArray(type) && acceptsNull(schema)) {
    const others: readonly unknown[] = type.filter((one) => one !== "null");
    if (others.length === 1) return { ...schema, type: others[0] };
  }
  return schema;
}

function valuesOf(schema: JsonSchema): ReadonlyMap<string, FilterScalar> | undefined {
  const { enum: listed, const: only } = schema;
  const values: readonly unknown[] = Array.isArray(listed) ? listed : [only];
  const scalars = values.filter(isScalar);
  return scalars.length > 0 ? new Map(scalars.map((value) => [String(value), value])) : undefined;
}

function isScalar(value: unknown): value is FilterScalar {
  return ["boolean", "number", "string"].includes(typeof value);
}

function kindOf({ type, format }: JsonSchema): FilterKind | undefined {
  switch (type) {
    case "boolean":
    case "integer":
    case "number":
    case "object":
      return type;
    case "string":
      return format === "date" ? "date" : format === "date-time" ? "time" : "string";
    default:
      return undefined;
  }
}

function numberOf(text: string, kind: "integer" | "number"): number | undefined {
  if (!/^-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?$/.test(text)) return undefined;
  const number = Number(text);
  const fits = kind === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
  return fits ? number : undefined;
}

const dateParts = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Date.parse takes February 30 for March 1 or 2: the result is compared with the input. */
function isDate(text: string): boolean {
  if (!dateParts.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const timeParts =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(Z|[+ -]\d\d:\d\d)$/;

/**
 * Reads a date, which means its midnight in UTC, or a time. The `+` of an offset that was not
 * percent-encoded has become a space.
 */
function timeOf(text: string, spelling: "as sent" | "as stored"): string | undefined {
  if (isDate(text)) return `${text}T00:00:00.000Z`;
  const [, date = "", , zone = ""] = timeParts.exec(text) ?? [];
  if (!isDate(date)) return undefined;
  if (zone === "Z" && spelling === "as sent") return text;
  const time = Date.parse(text.replace(" ", "+"));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
