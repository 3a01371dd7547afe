import type { ParsedPath } from "../../api/field-path.ts";
import type { ScalarValue } from "../../api/where.ts";
import { sumDecimals } from "../../document/decimal-sum.ts";
import type {
  Aggregate,
  ParsedAggregate,
  ParsedDistinct,
  ParsedValue,
} from "../../query/parse-aggregate.ts";
import type { ParsedSelection } from "../../query/parse-query.ts";
import { compareScalars } from "../../query/scalar-order.ts";
import type { Dialect } from "../dialect.ts";
import type { FoundBy, Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import { separateMembers } from "./lookups.ts";
import { selectionTerms, whereSql } from "./where.ts";

/** Groups, or different values of a field, that are computed. */
export const maxGroups = 100_000;

/** Columns of a summary, see `Summarizing.summary`. */
const summaryColumns = 7;

/** Found groups or values and their number, at most one above {@link maxGroups}. */
export interface Summary {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** Reads groups: the fields of `by` as JSON texts, then the values. */
export function* readGroups(
  layout: Layout,
  plan: ParsedAggregate,
  foundBy: FoundBy,
): Operation<Summary> {
  const { summarizing } = layout;
  const sql = layout.begin();
  const keys = plan.by.map((_path, index) => `key${index}`);
  const outer = [...keys.map((key) => summarizing.text(key)), "count(*)"];
  const summarized = fieldsOf(plan.values);
  for (const [index, { path, kinds }] of summarized.entries()) {
    const sum = kinds.has("sum") || kinds.has("avg");
    const needs = { sum, min: kinds.has("min"), max: kinds.has("max") };
    outer.push(...summarizing.summary(path, `field${index}`, needs, sql));
  }
  const inner = plan.by.map((path, index) => `${summarizing.scalar(path, sql)} AS key${index}`);
  for (const [index, { path }] of summarized.entries()) {
    inner.push(...summarizing.inputs(path, `field${index}`, sql));
  }
  const found = documentsSql(layout, plan, { sql, columns: inner, foundBy });
  const grouped = keys.length === 0 ? "" : ` GROUP BY ${keys.join(", ")}`;
  const { rows } = yield sql.read(
    `SELECT ${outer.join(", ")} FROM ${found} AS found${grouped}${sql.page(maxGroups + 1, 0)}`,
    "repeated",
  );
  const places = new Map(summarized.map(({ path }, index) => [path.text, index]));
  const groups = rows.map((row) => ({
    keys: row.slice(0, keys.length).map(scalarOf),
    values: plan.values.map((value) => {
      const documents = row[keys.length] ?? null;
      if (value.kind === "count") return Number(documents);
      const first = keys.length + 1 + (places.get(value.path.text) ?? 0) * summaryColumns;
      return valueOf(value.kind, row.slice(first, first + summaryColumns));
    }),
  }));
  const sorted = groups.toSorted((one, other) => compareGroups(plan.order, one, other));
  return {
    rows: sorted
      .slice(0, plan.limit)
      .map((group) => [...group.keys.map((key) => JSON.stringify(key)), ...group.values]),
    count: rows.length,
  };
}

/** Reads the different values of a field as JSON texts. */
export function* readDistinct(
  layout: Layout,
  plan: ParsedDistinct,
  foundBy: FoundBy,
): Operation<Summary> {
  const { summarizing } = layout;
  const sql = layout.begin();
  const columns = [layout.key, `${summarizing.list(plan.path, sql)} AS list`];
  const found = documentsSql(layout, plan, { sql, columns, foundBy });
  const { rows } = yield sql.read(
    `SELECT ${summarizing.text(summarizing.member)} FROM ${summarizing.eachMember(found)} ` +
      `GROUP BY ${summarizing.member}${sql.page(maxGroups + 1, 0)}`,
    "repeated",
  );
  const values = rows.map(([text = null]) => scalarOf(text)).toSorted(compareScalars);
  return {
    rows: values.slice(0, plan.limit).map((value) => [JSON.stringify(value)]),
    count: rows.length,
  };
}

/** Writes the documents that are summed up, with what is needed of each. */
function documentsSql(
  layout: Layout,
  selection: ParsedSelection,
  {
    sql,
    columns,
    foundBy,
  }: { readonly sql: Dialect; readonly columns: readonly string[]; readonly foundBy: FoundBy },
): string {
  const select = columns.length === 0 ? "1" : columns.join(", ");
  const by = foundBy === "document" ? "index" : foundBy;
  const separated = separateMembers(layout, selection);
  const where = whereSql(selectionTerms(layout, { ...separated, foundBy: by }, sql));
  const isLookup = separated.words.length > 0 || separated.members !== undefined;
  const from = isLookup ? layout.searching.apart(where, by) : layout.quoted + where;
  return `(SELECT ${select} FROM ${from}${layout.summarizing.once})`;
}

/** A field that is summed up, and what is wanted of it. */
interface Summarized {
  readonly path: ParsedPath;
  readonly kinds: Set<Aggregate>;
}

/** The fields of the values, each once. */
function fieldsOf(values: readonly ParsedValue[]): readonly Summarized[] {
  const fields = new Map<string, Summarized>();
  for (const value of values) {
    if (value.kind === "count") continue;
    const { path, kind } = value;
    const field = fields.get(path.text) ?? { path, kinds: new Set() };
    field.kinds.add(kind);
    fields.set(path.text, field);
  }
  return [...fields.values()];
}

function valueOf(kind: Aggregate, summary: Row): number | string | null {
  const [numbers, sum, others, min, max, minText, maxText] = summary;
  const listed = decimalsOf(others);
  switch (kind) {
    case "sum":
      return sumDecimals([...decimalsOf(sum), ...listed]);
    case "avg": {
      const count = Number(numbers);
      return count === 0 ? null : sumDecimals([...decimalsOf(sum), ...listed]) / count;
    }
    case "min":
      return (
        extreme([...decimalsOf(min), ...listed], (one, other) => one < other) ?? minText ?? null
      );
    default:
      return (
        maxText ?? extreme([...decimalsOf(max), ...listed], (one, other) => one > other) ?? null
      );
  }
}

function decimalsOf(cell: Row[number] | undefined): readonly string[] {
  return cell === null || cell === undefined ? [] : String(cell).split(",");
}

function extreme(
  decimals: readonly string[],
  isBetter: (one: number, other: number) => boolean,
): number | undefined {
  let best: number | undefined;
  for (const decimal of decimals) {
    const number = Number(decimal);
    if (best === undefined || isBetter(number, best)) best = number;
  }
  return best;
}

interface Group {
  readonly keys: readonly ScalarValue[];
  readonly values: Row;
}

function compareGroups(order: ParsedAggregate["order"], one: Group, other: Group): number {
  const cell = ({ keys, values }: Group, place: number): ScalarValue =>
    (place < keys.length ? keys[place] : values[place - keys.length]) ?? null;
  for (const { place, descending } of order) {
    const difference = compareScalars(cell(one, place), cell(other, place));
    if (difference !== 0) return descending ? -difference : difference;
  }
  for (const [place, key] of one.keys.entries()) {
    const difference = compareScalars(key, other.keys[place] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

function scalarOf(cell: Row[number]): ScalarValue {
  const value: unknown = cell === null ? null : JSON.parse(String(cell));
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : null;
}
