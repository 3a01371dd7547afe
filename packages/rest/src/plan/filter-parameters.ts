import type { UntypedWhere } from "@fetchwork/documents";
import { fieldError, type FieldError } from "../field-error.ts";
import type { FilterField } from "../resource/filter-field.ts";
import {
  describeType,
  type FilterScalar,
  type FilterType,
  filterValue,
  ruleOf,
} from "../resource/filter-value.ts";
import type { JsonSchema } from "../schema.ts";
import type { QueryParameter } from "./route.ts";

/** A filter as clients send it: `stars[gte]=3`. */
export interface FilterParameter {
  readonly reference: QueryParameter;
  /** Reads the one value that was given; a {@link FieldError} when it is wrong. */
  readonly read: (text: string) => FieldError | FilterCondition;
}

/** Condition of a filter on a field. */
export interface FilterCondition {
  readonly where: UntypedWhere;
}

/** Maximum values of `in` and `nin`. */
export const maxFilterValues = 100;

/** Maximum filters of one request. */
export const maxFilters = 20;

/** Operator with which a filter compares. */
export type FilterOperator =
  "contains" | "eq" | "exists" | "gt" | "gte" | "in" | "lt" | "lte" | "ne" | "nin" | "prefix";

const descriptions: Readonly<Record<FilterOperator, string>> = {
  eq: "is this",
  ne: "is not this, or there is none",
  gt: "is greater than this",
  gte: "is this or greater",
  lt: "is less than this",
  lte: "is this or less",
  in: "is one of these, separated by commas",
  nin: "is not one of these, separated by commas",
  prefix: "begins with this",
  contains: "has this member",
  exists: "has a value (true), or none (false)",
};

/** Makes the parameters of the filters, by their names. */
export function filterParameters(
  fields: readonly FilterField[],
): ReadonlyMap<string, FilterParameter> {
  const parameters = new Map<string, FilterParameter>();
  for (const field of fields) {
    const equals = field.type.isList ? "contains" : "eq";
    for (const operator of operatorsOf(field.type)) {
      const name = `${field.path}[${operator}]`;
      parameters.set(name, filterParameter(name, field, operator));
      if (operator === equals) {
        parameters.set(field.path, filterParameter(field.path, field, operator));
      }
    }
  }
  return parameters;
}

/** Operators that a field may be filtered with. */
export function operatorsOf({ isList, kind, values }: FilterType): readonly FilterOperator[] {
  if (isList) return ["contains", "in", "nin", "exists"];
  if (kind === "object") return ["exists"];
  if (kind === "boolean") return ["eq", "ne", "exists"];
  const some = ["eq", "ne", "in", "nin", "exists"] as const;
  if (values) return some;
  const ordered = [...some, "gt", "gte", "lt", "lte"] as const;
  return kind === "string" ? [...ordered, "prefix"] : ordered;
}

function filterParameter(
  name: string,
  { path, type }: FilterField,
  operator: FilterOperator,
): FilterParameter {
  const isOneOf = operator === "in" || operator === "nin";
  return {
    reference: {
      name,
      description: `Documents whose ${path} ${descriptions[operator]}`,
      schema:
        operator === "exists" ? { type: "boolean" } : isOneOf ? { type: "string" } : schemaOf(type),
    },
    read: isOneOf
      ? (text) => readValues({ name, path, type, operator }, text)
      : (text) => readValue({ name, path, type, operator }, text),
  };
}

interface Reading {
  readonly name: string;
  readonly path: string;
  readonly type: FilterType;
  readonly operator: FilterOperator;
}

function readValue(
  { name, path, type, operator }: Reading,
  text: string,
): FieldError | FilterCondition {
  if (operator === "exists") {
    if (text !== "true" && text !== "false") {
      return fieldError(name, "type", `${name} must be of type boolean`);
    }
    return { where: whereExists(path, text === "true") };
  }
  const value = filterValue(text, type);
  return value === undefined ? wrong(name, type) : { where: { [path]: { [operator]: value } } };
}

function readValues(
  { name, path, type, operator }: Reading,
  text: string,
): FieldError | FilterCondition {
  const texts = text.split(",");
  if (texts.length > maxFilterValues) {
    const message = `${name} must have length lower than or equal to ${maxFilterValues}`;
    return fieldError(name, "maxlength", message);
  }
  const values: FilterScalar[] = [];
  for (const one of texts) {
    const isText = type.kind === "string" && !type.values;
    const value = filterValue(isText ? one : one.trim(), type);
    if (value === undefined) return wrong(name, type);
    values.push(value);
  }
  return { where: whereOneOf({ path, type, operator }, values) };
}

/** Demands that a field has a value, or none. */
export function whereExists(path: string, exists: boolean): UntypedWhere {
  return { [path]: exists ? { ne: null } : { eq: null } };
}

/** Demands that a field is one of some values or has one of them, or that it does not. */
export function whereOneOf(
  { path, type, operator }: Pick<Reading, "operator" | "path" | "type">,
  values: readonly FilterScalar[],
): UntypedWhere {
  if (!type.isList) return { [path]: operator === "in" ? { in: values } : { notIn: values } };
  const some = { [path]: { containsAny: values } };
  return operator === "in" ? some : { not: some };
}

function wrong(name: string, type: FilterType): FieldError {
  return fieldError(name, ruleOf(type), `${name} ${describeType(type)}`);
}

function schemaOf({ kind, values }: FilterType): JsonSchema {
  if (values) return { type: "string", enum: [...values.keys()] };
  if (kind === "date") return { type: "string", format: "date" };
  if (kind === "time" || kind === "stored-time") return { type: "string", format: "date-time" };
  return { type: kind };
}
