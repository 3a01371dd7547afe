import type { StandardSchemaV1 } from "@standard-schema/spec";

/** One field or parameter that was refused. */
export interface FieldError {
  /** Name of the field or parameter, with dots between the levels of a nested one. */
  readonly param: string;
  /** Rule that it breaks: `required`, `type`, `min`, `maxlength`, `enum`, `match`, `unique`, … */
  readonly name: string;
  /** What was expected, for a person. Never holds the value that was sent. */
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
    if (!byParam.has(param)) byParam.set(param, describe(issue, param, valueAt(input, path)));
  }
  return [...byParam.values()];
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

/**
 * Standard Schema fixes only message and path. The members `code`, `minimum`, `maximum`, `values`, `origin` and
 * `expected` are zod's; an issue of another library gets a message of ours, since its own may repeat the value.
 */
function describe(issue: StandardSchemaV1.Issue, param: string, value: unknown): FieldError {
  if (value === undefined) return fieldError(param, "required", `${param} is required`);
  const detail: Readonly<Record<string, unknown>> = { ...issue };
  const ofLength = detail["origin"] === "string" || detail["origin"] === "array";
  switch (detail["code"]) {
    case "too_small":
      return ofLength
        ? fieldError(param, "minlength", lengthText(param, "greater", detail["minimum"]))
        : fieldError(param, "min", boundText(param, "greater", detail["minimum"]));
    case "too_big":
      return ofLength
        ? fieldError(param, "maxlength", lengthText(param, "lower", detail["maximum"]))
        : fieldError(param, "max", boundText(param, "lower", detail["maximum"]));
    case "invalid_value": {
      const values = Array.isArray(detail["values"]) ? detail["values"].join(", ") : "";
      return fieldError(param, "enum", `${param} must be one of: ${values}`);
    }
    case "invalid_format":
      return fieldError(param, "match", `${param} must be a valid ${formatName(detail["format"])}`);
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

function boundText(param: string, than: "greater" | "lower", bound: unknown): string {
  return `${param} must be ${than} than or equal to ${String(bound)}`;
}

function formatName(format: unknown): string {
  return typeof format === "string" && format !== "regex" ? format : "value";
}
