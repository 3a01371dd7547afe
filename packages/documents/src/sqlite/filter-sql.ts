import type { MetaField, ParsedPath } from "../field-path.ts";
import type { Bound, Filter, RangeFilter } from "../filter.ts";
import type { Scalar } from "../where.ts";
import type { Cell } from "./connection.ts";
import { fieldExpression, typeExpression } from "./sql.ts";

/**
 * Translates a filter; its values are added to `parameters` in their order.
 *
 * `json_extract` loses some types: `true` reads as 1, an object as its text. Where a value could be
 * mistaken, and only there, the JSON type is asked for too, because that needs the document
 * where otherwise an index is enough.
 */
export function filterSql(filter: Filter, parameters: Cell[]): string {
  switch (filter.kind) {
    case "all":
      return join(filter.filters, " AND ", parameters) ?? "TRUE";
    case "any":
      return join(filter.filters, " OR ", parameters) ?? "FALSE";
    case "not":
      // NOT would leave NULL, the answer for missing fields, as NULL.
      return `(${filterSql(filter.filter, parameters)}) IS NOT TRUE`;
    case "exists":
      return filter.path.meta === undefined ? `${typeExpression(filter.path)} IS NOT NULL` : "TRUE";
    case "equals":
      return filter.path.meta === undefined
        ? equalsSql(filter.path, filter.values, parameters)
        : metaEqualsSql(filter.path, filter.path.meta, filter.values, parameters);
    case "prefix":
      return prefixSql(filter.path, filter.prefix, parameters);
    default:
      return rangeSql(filter, parameters);
  }
}

function join(
  filters: readonly Filter[],
  operator: string,
  parameters: Cell[],
): string | undefined {
  if (filters.length === 0) return undefined;
  return `(${filters.map((filter) => filterSql(filter, parameters)).join(operator)})`;
}

function equalsSql(path: ParsedPath, values: readonly Scalar[], parameters: Cell[]): string {
  const field = fieldExpression(path);
  const type = typeExpression(path);
  const plain = values.filter(isUnmistakable);
  const bits = values.filter((value) => value === 0 || value === 1);
  const texts = values.filter((value) => typeof value === "string" && looksLikeJson(value));
  const choices: string[] = [];
  if (plain.length > 0) choices.push(oneOf(field, plain, parameters));
  if (bits.length > 0) {
    choices.push(`(${oneOf(field, bits, parameters)} AND ${type} IN ('integer', 'real'))`);
  }
  if (texts.length > 0) choices.push(`(${oneOf(field, texts, parameters)} AND ${type} = 'text')`);
  if (values.includes(true)) choices.push(`(${field} = 1 AND ${type} = 'true')`);
  if (values.includes(false)) choices.push(`(${field} = 0 AND ${type} = 'false')`);
  if (values.includes(null)) choices.push(`${field} IS NULL`);
  return choices.length === 0 ? "FALSE" : `(${choices.join(" OR ")})`;
}

function metaEqualsSql(
  path: ParsedPath,
  meta: MetaField,
  values: readonly Scalar[],
  parameters: Cell[],
): string {
  // A column's affinity would make '1' equal to 1.
  const fitting = values.filter((value) => typeof value === typeOfMeta(meta));
  return fitting.length === 0 ? "FALSE" : oneOf(fieldExpression(path), fitting, parameters);
}

function oneOf(field: string, values: readonly Scalar[], parameters: Cell[]): string {
  const [first] = values;
  if (values.length === 1 && (typeof first === "string" || typeof first === "number")) {
    return `${field} = ${bind(first, parameters)}`;
  }
  parameters.push(JSON.stringify(values));
  return `${field} IN (SELECT value FROM json_each(?))`;
}

function prefixSql(path: ParsedPath, prefix: string, parameters: Cell[]): string {
  if (path.meta === "version") return "FALSE";
  const lower: Bound = { value: prefix, inclusive: true };
  const end = afterPrefix(prefix);
  const upper: Bound | undefined = end === undefined ? undefined : { value: end, inclusive: false };
  return rangeSql({ kind: "range", path, lower, upper }, parameters);
}

/** Gives the least text that is greater than every text with the prefix, if there is one. */
function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    if (point < 0x10_ffff) {
      // Lone surrogates do not occur in stored text.
      const next = point === 0xd7ff ? 0xe000 : point + 1;
      return points.join("") + String.fromCodePoint(next);
    }
  }
  return undefined;
}

function rangeSql({ path, lower, upper }: RangeFilter, parameters: Cell[]): string {
  const field = fieldExpression(path);
  const type = typeof (lower ?? upper)?.value;
  if (path.meta !== undefined && type !== typeOfMeta(path.meta)) return "FALSE";
  const terms: string[] = [];
  if (lower !== undefined) {
    terms.push(`${field} ${lower.inclusive ? ">=" : ">"} ${bind(lower.value, parameters)}`);
  } else if (type === "string") {
    terms.push(`${field} >= ''`);
  }
  if (upper !== undefined) {
    terms.push(`${field} ${upper.inclusive ? "<=" : "<"} ${bind(upper.value, parameters)}`);
  } else if (type === "number" && path.meta === undefined) {
    // Every text is greater than every number, and the empty one is the least.
    terms.push(`${field} < ''`);
  }
  if (path.meta === undefined && isMistakable(lower?.value, upper?.value, type)) {
    const types = type === "number" ? "IN ('integer', 'real')" : "= 'text'";
    terms.push(`${typeExpression(path)} ${types}`);
  }
  return `(${terms.join(" AND ")})`;
}

function bind(value: number | string, parameters: Cell[]): string {
  if (typeof value === "string" || Number.isSafeInteger(value)) {
    parameters.push(value);
    return "?";
  }
  // SQLite reads some decimal numbers one bit apart from JavaScript, so it reads this one too.
  parameters.push(JSON.stringify(value));
  return "(? ->> '$')";
}

function typeOfMeta(meta: MetaField): "number" | "string" {
  return meta === "version" ? "number" : "string";
}

function isUnmistakable(value: Scalar): boolean {
  if (typeof value === "number") return value !== 0 && value !== 1;
  return typeof value === "string" && !looksLikeJson(value);
}

function looksLikeJson(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

/** Tells whether a range may hold `true`, `false`, or the text of an object or array. */
function isMistakable(
  lower: number | string | undefined,
  upper: number | string | undefined,
  type: string,
): boolean {
  if (type === "number") {
    return !((typeof lower === "number" && lower > 1) || (typeof upper === "number" && upper < 0));
  }
  const low = typeof lower === "string" ? lower : "";
  const high = typeof upper === "string" ? upper : undefined;
  const holds = (first: string, next: string): boolean =>
    low < next && (high === undefined || high >= first);
  return holds("[", "\\") || holds("{", "|");
}
