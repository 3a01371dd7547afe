import type { ParsedPath } from "../../../api/field-path.ts";
import type { ScalarValue } from "../../../api/where.ts";
import { jsonOf, quoteText, typeOf } from "./keys.ts";

/** Members of a field as an index has them: a JSON list, and the condition that there is one. */
export interface Members {
  readonly list: string;
  /** Leaves out of the index what has no members, such as the texts of a field without lists. */
  readonly condition: string;
}

/**
 * Writes the members of a field. Where a name on the way leads to a list, the path of SQL/JSON
 * follows each of its members; a field that is reached through objects alone has members only where
 * it is a list.
 */
export function membersOf(path: ParsedPath): Members {
  if (path.segments.length === 1) {
    return { list: jsonOf(path), condition: `${typeOf(path)} = 'array'` };
  }
  const steps = path.segments.map((name) => `.${JSON.stringify(name)}`);
  return {
    list: `jsonb_path_query_array(doc, ${quoteText(`$${steps.join("")}[*]`)})`,
    condition: `coalesce(${typeOf(path)}, 'array') = 'array'`,
  };
}

/** Condition that a field's members have one of the values, in a form without index. */
export function containsSql(
  path: ParsedPath,
  values: readonly ScalarValue[],
  bind: (lists: readonly string[]) => string,
): string {
  const { list, condition } = membersOf(path);
  // A list contains a list of one value when that value is among its members.
  const contains = `${list} @> ANY(${bind(values.map(listOf))})`;
  // A value that is not a list contains none.
  return path.segments.length === 1 ? contains : `(${condition} AND ${contains})`;
}

/** The same condition in the form that the members' index serves; ANY would not. */
export function hasMemberSql(
  path: ParsedPath,
  values: readonly ScalarValue[],
  bind: (list: string) => string,
): string {
  const { list, condition } = membersOf(path);
  const choices = values.map((value) => `${list} @> ${bind(listOf(value))}`);
  return `(${condition} AND (${choices.join(" OR ")}))`;
}

function listOf(value: ScalarValue): string {
  return JSON.stringify([value]);
}
