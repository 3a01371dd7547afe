import { queryError } from "../../api/errors.ts";
import type { Deleted } from "../../api/find-query.ts";
import type { ContainsFilter } from "../../query/filter.ts";
import type { Part, RowsAfter, Segment } from "../../query/keyset.ts";
import type { ParsedQuery } from "../../query/parse-query.ts";
import type { Dialect } from "../dialect.ts";
import type { FoundBy, Layout, Selected } from "../layout.ts";
import type { Statement } from "../operation.ts";
import { filterSql } from "./filter-sql.ts";

/** Writes the conditions of a selection, to be joined by AND. */
export function selectionTerms(
  layout: Layout,
  { filter, words, members = [], foundBy = "index", deleted, part }: Selected,
  sql: Dialect,
): readonly string[] {
  const terms = [...sql.countVisited(), ...visibleTerms(layout, deleted, sql)];
  if (part !== undefined) terms.push(afterSql(part, sql));
  if (filter !== undefined) terms.push(filterSql(filter, sql));
  if (typeof foundBy === "object" && "keys" in foundBy) {
    const { keys, of } = foundBy;
    terms.push(sql.isRow(keys));
    if (of.kind === "words") return [...terms, ...memberTerms(members, "document", sql)];
    if (words.length > 0) terms.push(...sql.hasWords(words));
    const others = members.filter((member) => member !== of);
    return [...terms, ...memberTerms(others, "document", sql)];
  }
  if (words.length > 0) terms.push(...wordTerms(words, foundBy, sql));
  if (members.length > 0) {
    terms.push(...memberTerms(members, words.length > 0 ? "document" : foundBy, sql));
  }
  return terms;
}

/** Writes the conditions that a document can be seen. */
export function visibleTerms(layout: Layout, deleted: Deleted, sql: Dialect): readonly string[] {
  const terms: string[] = [];
  if (layout.hasRemoved && deleted === "exclude") terms.push("deleted_at IS NULL");
  if (deleted === "only") terms.push(layout.softDelete ? "deleted_at IS NOT NULL" : "FALSE");
  if (layout.expiresAt !== undefined) {
    terms.push(`(expires_at IS NULL OR expires_at > ${sql.bind(Date.now(), "bigint")})`);
  }
  return terms;
}

/** Writes a WHERE clause with a space before it; empty when there are no terms. */
export function whereSql(terms: readonly string[]): string {
  return terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
}

/** Writes ORDER BY with a space before it; empty when all documents are equal. */
export function orderSql(
  { order, part }: Pick<ParsedQuery, "order"> & Pick<Selected, "part">,
  sql: Dialect,
): string {
  const terms = sql.order(part?.order ?? order);
  return terms === "" ? "" : ` ORDER BY ${terms}`;
}

/** Writes a SELECT of the number of rows, up to `max`. */
export function countSql(from: string, max: number | undefined, sql: Dialect): string {
  const rows = max === undefined ? from : `(SELECT 1 FROM ${from}${sql.page(max, 0)}) AS found`;
  return `SELECT count(*) FROM ${rows}`;
}

/** Makes the statement that reads the columns of documents; each offset may be another one. */
export function selectSql(
  layout: Layout,
  from: string,
  { limit, offset }: Pick<ParsedQuery, "limit" | "offset">,
  sql: Dialect,
): Statement {
  const text = `SELECT ${layout.columns} FROM ${from}${sql.page(limit, offset)}`;
  return sql.read(layout.packed?.(text) ?? text, offset === 0 ? "repeated" : "once");
}

function afterSql(part: Part, sql: Dialect): string {
  return part.kind === "rows" ? rowsAfterSql(part, sql) : segmentSql(part, sql);
}

function rowsAfterSql({ order, values }: RowsAfter, sql: Dialect): string {
  const keys = order.map(({ path }) => sql.key(path));
  const places = order.map(({ path }, index) => sql.keyOfValue(path, values[index] ?? ""));
  const operator = order[0]?.descending === true ? "<" : ">";
  return `(${keys.join(", ")}) ${operator} (${places.join(", ")})`;
}

function segmentSql({ equal, beyond }: Segment, sql: Dialect): string {
  const terms = equal.map(({ term: { path }, value }) =>
    value === null
      ? `${sql.key(path)} IS NULL`
      : `${sql.key(path)} = ${sql.keyOfValue(path, value)}`,
  );
  const { path } = beyond.term;
  if (beyond.value !== undefined) {
    const operator = beyond.kind === "greater" ? ">" : "<";
    terms.push(`${sql.key(path)} ${operator} ${sql.keyOfValue(path, beyond.value)}`);
  } else {
    terms.push(beyond.kind === "null" ? `${sql.key(path)} IS NULL` : sql.hasKey(path));
  }
  return terms.join(" AND ");
}

/** How words and members are looked for that are not those whose keys are known. */
type Apart = Exclude<FoundBy, { readonly keys: unknown }>;

/** Writes the conditions that a row has the words. */
function wordTerms(words: readonly string[], foundBy: Apart, sql: Dialect): readonly string[] {
  if (foundBy === "document") return sql.hasWords(words);
  if (foundBy === "index") return sql.search(words);
  return [`((${sql.search(words).join(" AND ")}) OR ${sql.isRow(foundBy.unindexed)})`];
}

/** Writes the conditions that lists of a row have the members. */
function memberTerms(
  [first, ...others]: readonly ContainsFilter[],
  foundBy: Apart,
  sql: Dialect,
): readonly string[] {
  if (first === undefined) return [];
  const { path, values } = first;
  return [
    foundBy === "index" ? sql.hasMember(path, values) : sql.contains(path, values),
    ...others.map((other) => sql.contains(other.path, other.values)),
  ];
}

/** Refuses words where no field is declared for them. */
export function requireSearch(
  { definition: { name, search } }: Layout,
  words: readonly string[],
): void {
  if (words.length === 0 || search.length > 0) return;
  throw queryError(`the collection "${name}" declares no search fields, which "q" needs`);
}
