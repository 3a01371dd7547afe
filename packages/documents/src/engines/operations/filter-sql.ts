import type { MetaField, ParsedPath } from "../../api/field-path.ts";
import type { ScalarValue } from "../../api/where.ts";
import type { Filter, RangeFilter } from "../../query/filter.ts";
import { afterPrefix } from "../../query/text-range.ts";
import { columnOf, type Dialect } from "../dialect.ts";

/** Translates a filter to a condition. */
export function filterSql(filter: Filter, sql: Dialect): string {
  switch (filter.kind) {
    case "all":
      return join(filter.filters, " AND ", sql) ?? "TRUE";
    case "any":
      return join(filter.filters, " OR ", sql) ?? "FALSE";
    case "not":
      // NOT would leave the NULL of a missing field as NULL.
      return `(${filterSql(filter.filter, sql)}) IS NOT TRUE`;
    case "exists":
      return filter.path.meta === undefined ? sql.exists(filter.path) : "TRUE";
    case "contains":
      if (filter.path.meta !== undefined || filter.values.length === 0) return "FALSE";
      return sql.contains(filter.path, filter.values);
    case "equals":
      if (filter.path.meta !== undefined) return metaEquals(filter.path.meta, filter.values, sql);
      return sql.equals(filter.path, filter.values);
    case "prefix":
      return prefixSql(filter.path, filter.prefix, sql);
    default:
      return rangeSql(filter, sql);
  }
}

function join(filters: readonly Filter[], operator: string, sql: Dialect): string | undefined {
  if (filters.length === 0) return undefined;
  return `(${filters.map((filter) => filterSql(filter, sql)).join(operator)})`;
}

function prefixSql(path: ParsedPath, prefix: string, sql: Dialect): string {
  const end = afterPrefix(prefix);
  const lower = { value: prefix, inclusive: true };
  const upper = end === undefined ? undefined : { value: end, inclusive: false };
  return rangeSql({ kind: "range", path, lower, upper }, sql);
}

function rangeSql(filter: RangeFilter, sql: Dialect): string {
  const { meta } = filter.path;
  return meta === undefined ? sql.range(filter) : metaRange(meta, filter, sql);
}

function metaEquals(meta: MetaField, values: readonly ScalarValue[], sql: Dialect): string {
  // The affinity of a column would make '1' equal to 1.
  const fitting = values.filter(
    (value): value is number | string => typeof value === typeOfMeta(meta),
  );
  if (fitting.length === 0) return "FALSE";
  return sql.isIn(columnOf(meta), fitting, columnTypeOf(meta));
}

function metaRange(meta: MetaField, { lower, upper }: RangeFilter, sql: Dialect): string {
  if (typeof (lower ?? upper)?.value !== typeOfMeta(meta)) return "FALSE";
  const terms: string[] = [];
  for (const [bound, operator] of [
    [lower, ">"],
    [upper, "<"],
  ] as const) {
    if (bound === undefined) continue;
    const value = sql.bind(bound.value, columnTypeOf(meta));
    terms.push(`${columnOf(meta)} ${operator}${bound.inclusive ? "=" : ""} ${value}`);
  }
  return `(${terms.join(" AND ")})`;
}

function typeOfMeta(meta: MetaField): "number" | "string" {
  return meta === "version" ? "number" : "string";
}

function columnTypeOf(meta: MetaField): "numeric" | "text" {
  return meta === "version" ? "numeric" : "text";
}
