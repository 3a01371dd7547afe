import { check } from "../errors.ts";
import type { FilterField } from "./filter-field.ts";

/** Kind of value that is computed from a field in each group. */
export type GroupValue = "avg" | "max" | "min" | "sum";

/** All of them, in the order in which they are shown. */
export const groupValues: readonly GroupValue[] = ["sum", "avg", "min", "max"];

/** Parameters of groups that lists do not have, or have with another meaning. */
export const groupParameters: readonly string[] = ["by", ...groupValues, "sort", "limit"];

/** Fields of which a value can be computed: numbers are added, and numbers and texts compared. */
export function summable(kind: GroupValue, fields: readonly FilterField[]): readonly FilterField[] {
  if (kind === "sum" || kind === "avg") return fields.filter(isNumber);
  return fields.filter(({ type }) => type.kind !== "boolean");
}

function isNumber({ type }: FilterField): boolean {
  return type.kind === "integer" || type.kind === "number";
}

/**
 * Checks the fields of the option `groups`.
 *
 * @throws RestError `ERR_REST_DEFINITION` for lists and objects, which make no groups.
 */
export function checkGroups(
  fields: readonly FilterField[],
  { name, parameters }: { readonly name: string; readonly parameters: readonly string[] },
): void {
  if (fields.length === 0) return;
  for (const { path, type } of fields) {
    check(
      !type.isList && type.kind !== "object",
      `${path} of ${name} makes no groups, expected a field of a text, a number or a boolean`,
    );
  }
  const taken = groupParameters.find((parameter) => parameters.includes(parameter));
  check(
    taken === undefined,
    `the groups of ${name} have a parameter ${taken}, expected another name for that of its list`,
  );
}
