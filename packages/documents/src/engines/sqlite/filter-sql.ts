import type { MetaField, ParsedPath } from "../../api/field-path.ts";
import type { ScalarValue } from "../../api/where.ts";
import type { Bound, Filter, RangeFilter } from "../../query/filter.ts";
import { afterPrefix, isMistakable, looksLikeJson } from "../../query/text-range.ts";
import type { Expressions } from "./sql.ts";

/**
 * Translates a filter. Expressions are written in the order of the text, as their values are bound.
 *
 * `json_extract` loses some types: `true` reads as 1, an object as its text. Where a value could be
 * mistaken, and only there, the JSON type is asked for too, because that needs the document
 * where otherwise an index is enough.
 */
export function filterSql(filter: Filter, sql: Expressions): string {
  switch (filter.kind) {
    case "all":
      return join(filter.filters, " AND ", sql) ?? "TRUE";
    case "any":
      return join(filter.filters, " OR ", sql) ?? "FALSE";
    case "not":
      // NOT would leave NULL, the answer for missing fields, as NULL.
      return `(${filterSql(filter.filter, sql)}) IS NOT TRUE`;
    case "exists":
      return filter.path.meta === undefined ? `${sql.type(filter.path)} IS NOT NULL` : "TRUE";
    case "contains":
      return containsSql(filter.path, filter.values, sql);
    case "equals":
      return filter.path.meta === undefined
        ? equalsSql(filter.path, filter.values, sql)
        : metaEqualsSql(filter.path, filter.path.meta, filter.values, sql);
    case "prefix":
      return prefixSql(filter.path, filter.prefix, sql);
    default:
      return rangeSql(filter, sql);
  }
}

function join(filters: readonly Filter[], operator: string, sql: Expressions): string | undefined {
  if (filters.length === 0) return undefined;
  return `(${filters.map((filter) => filterSql(filter, sql)).join(operator)})`;
}

function equalsSql(path: ParsedPath, values: readonly ScalarValue[], sql: Expressions): string {
  const plain = values.filter(isUnmistakable);
  const bits = values.filter((value) => value === 0 || value === 1);
  const texts = values.filter((value) => typeof value === "string" && looksLikeJson(value));
  const choices: string[] = [];
  if (plain.length > 0) choices.push(oneOf(path, plain, sql));
  if (bits.length > 0) {
    choices.push(`(${oneOf(path, bits, sql)} AND ${sql.type(path)} IN ('integer', 'real'))`);
  }
  if (texts.length > 0) choices.push(`(${oneOf(path, texts, sql)} AND ${sql.type(path)} = 'text')`);
  if (values.includes(true))
    choices.push(`(${sql.field(path)} = 1 AND ${sql.type(path)} = 'true')`);
  if (values.includes(false))
    choices.push(`(${sql.field(path)} = 0 AND ${sql.type(path)} = 'false')`);
  if (values.includes(null)) choices.push(`${sql.field(path)} IS NULL`);
  return choices.length === 0 ? "FALSE" : `(${choices.join(" OR ")})`;
}

/**
 * Members are compared with their JSON types, because `true` would equal 1, and a list its text. The values are read
 * once and not for every document.
 */
function containsSql(path: ParsedPath, values: readonly ScalarValue[], sql: Expressions): string {
  if (path.meta !== undefined || values.length === 0) return "FALSE";
  return (
    `(${sql.type(path)} = 'array' AND EXISTS (SELECT 1 FROM json_each(${sql.document(path)}) AS m ` +
    `WHERE (${member("m")}) IN (SELECT ${member("w")} ` +
    `FROM json_each(${sql.bind(JSON.stringify(values))}) AS w)))`
  );
}

/** IN finds no NULL, which is the atom of `null`. */
function member(row: string): string {
  return `coalesce(${row}.atom, ''), replace(${row}.type, 'real', 'integer')`;
}

function metaEqualsSql(
  path: ParsedPath,
  meta: MetaField,
  values: readonly ScalarValue[],
  sql: Expressions,
): string {
  // A column's affinity would make '1' equal to 1.
  const fitting = values.filter((value) => typeof value === typeOfMeta(meta));
  return fitting.length === 0 ? "FALSE" : oneOf(path, fitting, sql);
}

function oneOf(path: ParsedPath, values: readonly ScalarValue[], sql: Expressions): string {
  const [first] = values;
  if (values.length === 1 && (typeof first === "string" || typeof first === "number")) {
    return `${sql.field(path)} = ${sql.value(first)}`;
  }
  return `${sql.field(path)} IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(values))}))`;
}

function prefixSql(path: ParsedPath, prefix: string, sql: Expressions): string {
  if (path.meta === "version") return "FALSE";
  const lower: Bound = { value: prefix, inclusive: true };
  const end = afterPrefix(prefix);
  const upper: Bound | undefined = end === undefined ? undefined : { value: end, inclusive: false };
  return rangeSql({ kind: "range", path, lower, upper }, sql);
}

function rangeSql({ path, lower, upper }: RangeFilter, sql: Expressions): string {
  const type = typeof (lower ?? upper)?.value;
  if (path.meta !== undefined && type !== typeOfMeta(path.meta)) return "FALSE";
  const terms: string[] = [];
  if (lower !== undefined) {
    terms.push(`${sql.field(path)} ${lower.inclusive ? ">=" : ">"} ${sql.value(lower.value)}`);
  } else if (type === "string") {
    terms.push(`${sql.field(path)} >= ''`);
  }
  if (upper !== undefined) {
    terms.push(`${sql.field(path)} ${upper.inclusive ? "<=" : "<"} ${sql.value(upper.value)}`);
  } else if (type === "number" && path.meta === undefined) {
    // Every text is greater than every number, and the empty one is the least.
    terms.push(`${sql.field(path)} < ''`);
  }
  if (path.meta === undefined && isMistakable(lower?.value, upper?.value, type)) {
    const types = type === "number" ? "IN ('integer', 'real')" : "= 'text'";
    terms.push(`${sql.type(path)} ${types}`);
  }
  return `(${terms.join(" AND ")})`;
}

function typeOfMeta(meta: MetaField): "number" | "string" {
  return meta === "version" ? "number" : "string";
}

function isUnmistakable(value: ScalarValue): boolean {
  if (typeof value === "number") return value !== 0 && value !== 1;
  return typeof value === "string" && !looksLikeJson(value);
}
