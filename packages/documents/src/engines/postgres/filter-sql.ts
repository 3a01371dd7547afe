import type { MetaField, ParsedPath } from "../../api/field-path.ts";
import type { ScalarValue } from "../../api/where.ts";
import type { Filter, RangeFilter } from "../../query/filter.ts";
import { afterPrefix, isMistakable, looksLikeJson } from "../../query/text-range.ts";
import {
  columnOf,
  isLong,
  jsonOf,
  KEY_CHARACTERS,
  type KeyForm,
  keyOfValue,
  numberKey,
  type Parameters,
  textOf,
  typeOf,
} from "./sql.ts";

/** What a filter is translated with. */
export interface FilterContext {
  readonly parameters: Parameters;
  /** The fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  readonly form: KeyForm;
}

/**
 * Translates a filter.
 *
 * A key does not tell `true` from 1, nor an object from a string of its JSON text. Where a value
 * could be mistaken, and only there, the JSON itself is compared too, because that needs the
 * document where otherwise an index is enough.
 */
export function filterSql(filter: Filter, context: FilterContext): string {
  switch (filter.kind) {
    case "all":
      return join(filter.filters, " AND ", context) ?? "TRUE";
    case "any":
      return join(filter.filters, " OR ", context) ?? "FALSE";
    case "not":
      // NOT would leave NULL, the answer for missing fields, as NULL.
      return `(${filterSql(filter.filter, context)}) IS NOT TRUE`;
    case "exists":
      return filter.path.meta === undefined ? `${jsonOf(filter.path)} IS NOT NULL` : "TRUE";
    case "equals":
      return equalsSql(filter.path, filter.values, context);
    case "contains":
      return containsSql(filter.path, filter.values, context);
    case "prefix":
      return prefixSql(filter.path, filter.prefix, context);
    default:
      return rangeSql(filter, context);
  }
}

function join(
  filters: readonly Filter[],
  operator: string,
  context: FilterContext,
): string | undefined {
  if (filters.length === 0) return undefined;
  return `(${filters.map((filter) => filterSql(filter, context)).join(operator)})`;
}

function equalsSql(
  path: ParsedPath,
  values: readonly ScalarValue[],
  context: FilterContext,
): string {
  if (path.meta !== undefined) return metaEqualsSql(path.meta, values, context);
  const choices: string[] = [];
  if (values.includes(null)) {
    choices.push(
      context.indexed.has(path.text)
        ? `${context.parameters.key(path, context.form)} IS NULL`
        : `coalesce(${jsonOf(path)}, 'null') = 'null'`,
    );
  }
  const others = values.filter((value) => value !== null);
  if (context.indexed.has(path.text)) {
    const exact = others.filter(isExact);
    const vague = others.filter((value) => !isExact(value));
    if (exact.length > 0) choices.push(keyIn(path, exact, context));
    if (vague.length > 0) {
      choices.push(`(${keyIn(path, vague, context)} AND ${jsonIn(path, vague, context)})`);
    }
  } else if (others.length > 0) {
    choices.push(jsonIn(path, others, context));
  }
  return choices.length === 0 ? "FALSE" : `(${choices.join(" OR ")})`;
}

function metaEqualsSql(
  meta: MetaField,
  values: readonly ScalarValue[],
  { parameters }: FilterContext,
): string {
  const type = typeOfMeta(meta);
  const fitting = values.filter((value) => typeof value === type).map(String);
  const [first] = fitting;
  if (first === undefined) return "FALSE";
  const sqlType = type === "number" ? "numeric" : "text";
  return fitting.length === 1
    ? `${columnOf(meta)} = ${parameters.bind(first, sqlType)}`
    : `${columnOf(meta)} = ANY(${parameters.bind(fitting, `${sqlType}[]`)})`;
}

function keyIn(
  path: ParsedPath,
  values: readonly (boolean | number | string)[],
  { parameters, form }: FilterContext,
): string {
  const short: string[] = [];
  const choices: string[] = [];
  for (const value of values) {
    if (typeof value === "string" && isLong(value)) {
      choices.push(
        `${parameters.key(path, form)} = ${keyOfValue(path, value, { parameters, form })}`,
      );
    } else {
      short.push(typeof value === "string" ? `s${value}` : numberKey(Number(value), form));
    }
  }
  const [first] = short;
  if (first !== undefined) {
    choices.push(
      short.length === 1
        ? `${parameters.key(path, form)} = ${parameters.bind(first, "text")}`
        : `${parameters.key(path, form)} = ANY(${parameters.bind(short, "text[]")})`,
    );
  }
  return choices.length === 1 ? choices.join("") : `(${choices.join(" OR ")})`;
}

function jsonIn(
  path: ParsedPath,
  values: readonly (boolean | number | string)[],
  { parameters }: FilterContext,
): string {
  const texts = values.map((value) => JSON.stringify(value));
  const [first] = texts;
  return texts.length === 1 && first !== undefined
    ? `${jsonOf(path)} = ${parameters.bind(first, "jsonb")}`
    : `${jsonOf(path)} = ANY(${parameters.bind(texts, "jsonb[]")})`;
}

/** A list contains a list of one when that one is among its members. */
function containsSql(
  path: ParsedPath,
  values: readonly ScalarValue[],
  { parameters }: FilterContext,
): string {
  if (path.meta !== undefined || values.length === 0) return "FALSE";
  const lists = parameters.bind(
    values.map((value) => JSON.stringify([value])),
    "jsonb[]",
  );
  return `${jsonOf(path)} @> ANY(${lists})`;
}

function prefixSql(path: ParsedPath, prefix: string, context: FilterContext): string {
  if (path.meta === "version") return "FALSE";
  const end = afterPrefix(prefix);
  return rangeSql(
    {
      kind: "range",
      path,
      lower: { value: prefix, inclusive: true },
      upper: end === undefined ? undefined : { value: end, inclusive: false },
    },
    context,
  );
}

function rangeSql({ path, lower, upper }: RangeFilter, context: FilterContext): string {
  const type = typeof (lower ?? upper)?.value;
  if (path.meta !== undefined) return metaRangeSql(path.meta, { lower, upper }, context);
  const { parameters, form } = context;
  const key = parameters.key(path, form);
  const terms: string[] = [];
  if (lower !== undefined) {
    // The key of a long text begins with its first characters, so it is no less than those.
    const operator = lower.inclusive || isLong(lower.value) ? ">=" : ">";
    terms.push(`${key} ${operator} ${parameters.bind(keyStart(lower.value, form), "text")}`);
  } else {
    terms.push(`${key} >= '${type === "string" ? "s" : "m"}'`);
  }
  if (upper !== undefined) {
    const operator = upper.inclusive || isLong(upper.value) ? "<=" : "<";
    // The hash that follows the first characters has no "g".
    const end = `${keyStart(upper.value, form)}${isLong(upper.value) ? "g" : ""}`;
    terms.push(`${key} ${operator} ${parameters.bind(end, "text")}`);
  } else if (type === "number") {
    terms.push(`${key} < 's'`);
  }
  for (const [bound, operator] of [
    [lower, ">"],
    [upper, "<"],
  ] as const) {
    if (bound === undefined || typeof bound.value !== "string" || !isLong(bound.value)) continue;
    const value = parameters.bind(bound.value, "text");
    terms.push(`${textOf(path)} COLLATE "C" ${operator}${bound.inclusive ? "=" : ""} ${value}`);
  }
  if (isMistakable(lower?.value, upper?.value, type)) terms.push(`${typeOf(path)} = '${type}'`);
  return `(${terms.join(" AND ")})`;
}

function metaRangeSql(
  meta: MetaField,
  { lower, upper }: Pick<RangeFilter, "lower" | "upper">,
  { parameters }: FilterContext,
): string {
  const type = typeOfMeta(meta);
  if (typeof (lower ?? upper)?.value !== type) return "FALSE";
  const sqlType = type === "number" ? "numeric" : "text";
  const terms: string[] = [];
  for (const [bound, operator] of [
    [lower, ">"],
    [upper, "<"],
  ] as const) {
    if (bound === undefined) continue;
    const value = parameters.bind(String(bound.value), sqlType);
    terms.push(`${columnOf(meta)} ${operator}${bound.inclusive ? "=" : ""} ${value}`);
  }
  return `(${terms.join(" AND ")})`;
}

function keyStart(value: number | string, form: KeyForm): string {
  if (typeof value === "number") return numberKey(value, form);
  return isLong(value) ? `s${Array.from(value).slice(0, KEY_CHARACTERS).join("")}` : `s${value}`;
}

/** Tells whether no other value has the key of this one. */
function isExact(value: boolean | number | string): boolean {
  if (typeof value === "number") return value !== 0 && value !== 1;
  return typeof value === "string" && !looksLikeJson(value) && !isLong(value);
}

function typeOfMeta(meta: MetaField): "number" | "string" {
  return meta === "version" ? "number" : "string";
}
