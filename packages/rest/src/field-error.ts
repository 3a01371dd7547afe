import type { StandardSchemaV1 } from "@standard-schema/spec";

/** One field or parameter that was refused. */
export interface FieldError {
  /** Name of the field or parameter, with dots between the levels of a nested one. */
  readonly param: string;
  /** Rule that it breaks: `required`, `type`, `min`, `maxlength`, `enum`, `match`, `unique`, … */
  readonly name: string;
  /** Expected value, in words for a person. The message never holds the value that was sent. */
  readonly message: string;
  /** Always `false`, as users of the specification's API know it. */
  readonly valid: false;
  /** Position of the item in a bulk request. */
  readonly index?: number | undefined;
}

/** Makes a {@link FieldError}. */
export function fieldError(param: string, name: string, message: string): FieldError {
  return { valid: false, param, name, message };
}

/** Turns what a schema library reports into field errors, one per field. */
export function fieldErrorsOf(
  issues: readonly StandardSchemaV1.Issue[],
  input: unknown,
): readonly FieldError[] {
  const byParam = new Map<string, FieldError>();
  for (const issue of issues) {
    const path = (issue.path ?? []).map(keyOf);
    const param = path.map(String).join(".");
    const unknown = unknownNames(issue);
    for (const name of unknown) {
      const whole = [...path, name].map(String).join(".");
      byParam.set(whole, fieldError(whole, "unknown", `${whole} is not a field here`));
    }
    if (unknown.length > 0 || byParam.has(param)) continue;
    byParam.set(param, describe(issue, param, valueAt(input, path)));
  }
  return [...byParam.values()];
}

/** Maximum unknown names of one object in a message, so that the response stays small. */
const maxUnknown = 100;

/** The names that a strict object of zod does not take. */
function unknownNames(issue: StandardSchemaV1.Issue): readonly string[] {
  const { code, keys }: Detail = { ...issue };
  if (code !== "unrecognized_keys" || !Array.isArray(keys)) return [];
  return keys.slice(0, maxUnknown).map(String);
}

function keyOf(segment: PropertyKey | StandardSchemaV1.PathSegment): PropertyKey {
  return typeof segment === "object" ? segment.key : segment;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

type Detail = Readonly<Record<string, unknown>>;

/**
 * Standard Schema fixes only message and path. The members `code`, `minimum`, `maximum`, `values`,
 * `origin`, `expected` and the like are zod's, whose own message of a pattern shows it. An issue of
 * another library gets a message of ours, since its own may repeat the value.
 */
function describe(issue: StandardSchemaV1.Issue, param: string, value: unknown): FieldError {
  if (value === undefined) return fieldError(param, "required", `${param} is required`);
  const detail: Detail = { ...issue };
  const ofLength = detail["origin"] === "string" || detail["origin"] === "array";
  switch (detail["code"]) {
    case "too_small":
      return ofLength
        ? fieldError(param, "minlength", lengthText(param, "greater", detail["minimum"]))
        : fieldError(param, "min", boundText(param, "greater", detail));
    case "too_big":
      return ofLength
        ? fieldError(param, "maxlength", lengthText(param, "lower", detail["maximum"]))
        : fieldError(param, "max", boundText(param, "lower", detail));
    case "invalid_value":
      return fieldError(param, "enum", choiceText(param, detail["values"]));
    case "invalid_union":
      // A discriminated one lists what its discriminator may be.
      return Array.isArray(detail["options"])
        ? fieldError(param, "enum", choiceText(param, detail["options"]))
        : fieldError(param, "invalid", `${param} is not valid`);
    case "not_multiple_of":
      return fieldError(
        param,
        "invalid",
        `${param} must be a multiple of ${String(detail["divisor"])}`,
      );
    case "invalid_format":
      if (detail["format"] === "regex" && !issue.message.includes(String(detail["pattern"])))
        return fieldError(param, "match", issue.message);
      return fieldError(param, "match", `${param} must ${formatText(detail)}`);
    case "invalid_type":
      return fieldError(param, "type", `${param} must be of type ${String(detail["expected"])}`);
    case "custom":
      return fieldError(param, "invalid", issue.message);
    default:
      return fieldError(param, "invalid", `${param} is not valid`);
  }
}

function lengthText(param: string, than: "greater" | "lower", bound: unknown): string {
  return `${param} must have length ${than} than or equal to ${String(bound)}`;
}

function boundText(param: string, than: "greater" | "lower", detail: Detail): string {
  const bound = String(detail[than === "greater" ? "minimum" : "maximum"]);
  const orEqual = detail["inclusive"] === false ? "" : " or equal to";
  return `${param} must be ${than} than${orEqual} ${bound}`;
}
function choiceText(param: string, values: unknown): string {
  return `${param} must be one of: ${Array.isArray(values) ? values.join(", ") : ""}`;
}

/** Examples of a date and a time, for clients that send another spelling. */
const examples: ReadonlyMap<unknown, string> = new Map([
  ["date", "2026-01-31"],
  ["datetime", "2026-01-31T12:00:00Z"],
]);

function formatText(detail: Detail): string {
  const { format, pattern } = detail;
  switch (format) {
    case "starts_with":
      return `start with ${String(detail["prefix"])}`;
    case "ends_with":
      return `end with ${String(detail["suffix"])}`;
    case "includes":
      return `contain ${String(detail["includes"])}`;
    case "lowercase":
      return "be in lower case";
    case "uppercase":
      return "be in upper case";
    default: {
      const name = typeof format === "string" && format !== "regex" ? format : "value";
      const example = examples.get(format);
      return `be a valid ${name}${fits(example, pattern) ? `, such as ${example}` : ""}`;
    }
  }
}

/** Whether an example is one of a schema's, which may ask for a certain precision. */
function fits(example: string | undefined, pattern: unknown): example is string {
  if (example === undefined || typeof pattern !== "string") return false;
  return new RegExp(pattern.slice(1, pattern.lastIndexOf("/"))).test(example);
}
