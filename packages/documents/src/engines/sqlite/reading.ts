import type { Stored } from "../../api/document.ts";
import { InputError } from "../../api/errors.ts";
import { isShortWord } from "../../document/fold.ts";
import { type Segment, segmentsAfter, type SortValue } from "../../query/keyset.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Row } from "./connection.ts";
import { filterSql } from "./filter-sql.ts";
import { toStored } from "./row.ts";
import type { Reader } from "./session.ts";
import { Expressions } from "./sql.ts";
import { type Table, visibleTerms } from "./table.ts";

/** Reads a document. */
export function readOne<T>(reader: Reader, table: Table, id: string): Stored<T> | undefined {
  const row = rowOf(reader, table, { id, columns: table.columns });
  return row === undefined ? undefined : toStored<T>(table, row);
}

/** Reads some columns of a document that can be seen. */
export function rowOf(
  { connection }: Reader,
  table: Table,
  { id, columns }: { readonly id: string; readonly columns: string },
): Row | undefined {
  const sql = new Expressions(table.indexed);
  const terms = [`id = ${sql.bind(id)}`, ...visible(table, sql)];
  return connection.get(
    `SELECT ${columns} FROM ${table.quoted} WHERE ${terms.join(" AND ")}`,
    sql.parameters,
  );
}

/** Reads documents in the order of the ids. */
export function readMany<T>(
  reader: Reader,
  table: Table,
  ids: readonly string[],
): readonly (Stored<T> | undefined)[] {
  const sql = new Expressions(table.indexed);
  const list = `id IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(ids))}))`;
  const terms = [list, ...visible(table, sql)];
  const rows = reader.connection.all(
    `SELECT ${table.columns} FROM ${table.quoted} WHERE ${terms.join(" AND ")}`,
    sql.parameters,
  );
  const rowsById = new Map<unknown, Row>();
  for (const row of rows) rowsById.set(row[0], row);
  return ids.map((id) => {
    const row = rowsById.get(id);
    return row === undefined ? undefined : toStored<T>(table, row);
  });
}

/** Selects, sorts and pages documents; `after` are the values of the cursor, if there is one. */
export function selectRows(
  reader: Reader,
  table: Table,
  {
    query,
    after,
  }: { readonly query: ParsedQuery; readonly after?: readonly SortValue[] | undefined },
): readonly Row[] {
  return after === undefined
    ? select(reader, table, query)
    : selectAfter(reader, table, { query, after });
}

/** One statement for each segment, and not one with OR, which no index serves. */
function selectAfter(
  reader: Reader,
  table: Table,
  { query, after }: { readonly query: ParsedQuery; readonly after: readonly SortValue[] },
): readonly Row[] {
  const rows: Row[] = [];
  for (const segment of segmentsAfter(query.order, after)) {
    const limit = query.limit === undefined ? undefined : query.limit - rows.length;
    if (limit === 0) break;
    for (const row of select(reader, table, { ...query, limit, segment })) rows.push(row);
  }
  return rows;
}

function select(
  reader: Reader,
  table: Table,
  query: ParsedQuery & { readonly segment?: Segment },
): readonly Row[] {
  const sql = new Expressions(table.indexed, isShort(table, query) ? undefined : reader.budget);
  const where = whereSql(table, query, sql);
  const order = sql.order(query.segment?.order ?? query.order);
  return sql.all(
    reader.connection,
    `SELECT ${table.columns} FROM ${table.quoted}${where} ` +
      // LIMIT -1 is none.
      `${order === "" ? "" : `ORDER BY ${order} `}LIMIT ${sql.bind(query.limit ?? -1)} ` +
      `OFFSET ${sql.bind(query.offset)}`,
  );
}

/** So many rows are read before anybody notices. */
const FEW_ROWS = 1000;

/**
 * Tells whether an index has the rows of a query in order, all of them to be seen, so that no more are looked at than it
 * asks for: then counting them would only take time, a fifth of that of the statement.
 */
function isShort(
  { softDelete, expiresAt }: Table,
  { filter, words, order, limit, offset, segment }: ParsedQuery & { readonly segment?: Segment },
): boolean {
  const isWhole = filter === undefined && words.length === 0 && segment === undefined;
  if (!isWhole || softDelete || expiresAt !== undefined) return false;
  if (limit === undefined || limit + offset > FEW_ROWS) return false;
  const [first, second] = order;
  if (first?.path.meta === "id") return true;
  return (
    first?.path.meta === "createdAt" &&
    second?.path.meta === "id" &&
    first.descending === second.descending
  );
}

/** Writes the WHERE clause of a selection, with a space before it; empty when all is selected. */
export function whereSql(
  table: Table,
  { filter, words, deleted, segment }: ParsedSelection & { readonly segment?: Segment },
  sql: Expressions,
): string {
  const terms = [...sql.ticks("seq")];
  if (segment !== undefined) terms.push(segmentSql(segment, sql));
  if (filter !== undefined) terms.push(filterSql(filter, sql));
  if (words.length > 0) terms.push(searchSql(table, words, sql));
  terms.push(...visibleTerms(table, { deleted, bind: (value) => sql.bind(value) }));
  return terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
}

function visible(table: Table, sql: Expressions): readonly string[] {
  return visibleTerms(table, { deleted: "exclude", bind: (value) => sql.bind(value) });
}

function segmentSql({ equal, beyond }: Segment, sql: Expressions): string {
  const terms = equal.map(({ term, value }) =>
    value === null
      ? `${sql.field(term.path)} IS NULL`
      : `${sql.field(term.path)} = ${sql.value(value)}`,
  );
  const field = sql.field(beyond.term.path);
  if (beyond.value === undefined) {
    // Minus infinity, the least of all values, because no index is searched for IS NOT NULL.
    terms.push(beyond.kind === "null" ? `${field} IS NULL` : `${field} >= -9e999`);
  } else {
    terms.push(`${field} ${beyond.kind === "greater" ? ">" : "<"} ${sql.value(beyond.value)}`);
  }
  return terms.join(" AND ");
}

/**
 * Every word must occur in the folded text. Words of three characters and more are looked up, each
 * as a string of FTS5, in which nothing but a double quote has a meaning; shorter ones are looked
 * for in the texts themselves, by GLOB, because `instr` takes two to four times as long.
 */
function searchSql(table: Table, words: readonly string[], sql: Expressions): string {
  if (table.definition.search.length === 0) {
    throw new InputError(
      "ERR_DOCUMENTS_QUERY",
      `The collection "${table.definition.name}" declares no search fields, so "q" finds nothing`,
    );
  }
  const terms = [...sql.ticks("rowid")];
  const long = words.filter((word) => !isShortWord(word));
  if (long.length > 0) {
    const phrases = long.map((word) => `"${word.replaceAll('"', '""')}"`);
    terms.push(`text MATCH ${sql.bind(phrases.join(" AND "))}`);
  }
  for (const word of words.filter(isShortWord)) {
    const literal = word.replaceAll(/[*?[]/g, "[$&]");
    // The plus keeps FTS5 from taking the pattern for one that its index could serve.
    terms.push(`+text GLOB ${sql.bind(`*${literal}*`)}`);
  }
  return `seq IN (SELECT rowid FROM ${table.quotedSearch} WHERE ${terms.join(" AND ")})`;
}
