import type { Projected, Stored } from "../document.ts";
import { InputError } from "../errors.ts";
import { isShortWord } from "../fold.ts";
import { project } from "../projection.ts";
import type { ParsedQuery, ParsedSelection } from "../query.ts";
import type { Row } from "./connection.ts";
import { filterSql } from "./filter-sql.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import { REGISTRY } from "./schema.ts";
import type { Reader } from "./session.ts";
import { Expressions } from "./sql.ts";
import type { Table } from "./table.ts";

/** Reads a document. */
export function readOne<T>(reader: Reader, table: Table, id: string): Stored<T> | undefined {
  const row = reader.connection.get(
    `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE id = ?`,
    [id],
  );
  return row === undefined ? undefined : toStored<T>(table, row);
}

/** Reads documents in the order of the ids. */
export function readMany<T>(
  reader: Reader,
  table: Table,
  ids: readonly string[],
): readonly (Stored<T> | undefined)[] {
  const rows = reader.connection.all(
    `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(ids)],
  );
  const rowsById = new Map<unknown, Row>();
  for (const row of rows) rowsById.set(row[0], row);
  return ids.map((id) => {
    const row = rowsById.get(id);
    return row === undefined ? undefined : toStored<T>(table, row);
  });
}

/** Selects, sorts and pages documents. */
export function find<T>(
  reader: Reader,
  table: Table,
  query: ParsedQuery,
): readonly (Projected<T> | Stored<T>)[] {
  const sql = new Expressions(table.indexed);
  const rows = reader.connection.all(
    `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted}${whereSql(table, query, sql)} ` +
      // LIMIT -1 is none.
      `ORDER BY ${sql.order(query.order)} LIMIT ${sql.bind(query.limit ?? -1)} ` +
      `OFFSET ${sql.bind(query.offset)}`,
    sql.parameters,
  );
  const { fields } = query;
  if (fields === undefined) return rows.map((row) => toStored<T>(table, row));
  return rows.map((row) => {
    // Some of the fields of a Stored<T>, by the paths that the caller gave.
    return project(toStored<Record<string, unknown>>(table, row), fields) as Projected<T>;
  });
}

/** Counts documents; all of them are counted already. */
export function count(reader: Reader, table: Table, selection: ParsedSelection): number {
  if (selection.filter === undefined && selection.words.length === 0) {
    const row = reader.connection.get(`SELECT documents FROM ${REGISTRY} WHERE name = ?`, [
      table.definition.name,
    ]);
    return Number(row?.[0] ?? 0) + reader.uncounted(table);
  }
  const sql = new Expressions(table.indexed);
  const where = whereSql(table, selection, sql);
  const row = reader.connection.get(`SELECT count(*) FROM ${table.quoted}${where}`, sql.parameters);
  return Number(row?.[0]);
}

/** Writes the WHERE clause of a selection, with a space before it; empty when all is selected. */
export function whereSql(
  table: Table,
  { filter, words }: ParsedSelection,
  sql: Expressions,
): string {
  const terms: string[] = [];
  if (filter !== undefined) terms.push(filterSql(filter, sql));
  if (words.length > 0) terms.push(searchSql(table, words, sql));
  return terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`;
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
  const terms: string[] = [];
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
