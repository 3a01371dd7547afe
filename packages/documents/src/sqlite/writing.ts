import type { NewDocument, Target } from "../change-input.ts";
import type { Stored } from "../document.ts";
import { VersionError } from "../errors.ts";
import type { Filter } from "../filter.ts";
import { searchText } from "../fold.ts";
import { toJsonText } from "../json-text.ts";
import { whereSql } from "./reading.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Expressions } from "./sql.ts";
import type { Table } from "./table.ts";

/** Adds a document, without counting it. */
export function insertOne<T>(session: Session, table: Table, document: NewDocument): Stored<T> {
  const { connection, stamps } = session;
  const id = document.id ?? stamps.id();
  const now = stamps.now();
  const seq = connection.get(
    `INSERT INTO ${table.quoted} (${DOCUMENT_COLUMNS}) VALUES (?, 1, ?, ?, ?) RETURNING seq`,
    [id, now, now, document.text],
  )?.[0];
  const stored = toStored<T>(table, [id, 1, now, now, document.text]);
  if (table.searchPaths.length > 0) {
    connection.run(`INSERT INTO ${table.quotedSearch} (rowid, text) VALUES (?, ?)`, [
      Number(seq),
      searchText(stored, table.searchPaths),
    ]);
  }
  return stored;
}

/** Changes a document to what `change` makes of the stored one. */
export function changeOne<T>(
  session: Session,
  table: Table,
  target: Target,
  change: (stored: Stored<T>) => unknown,
): Stored<T> | undefined {
  const { connection } = session;
  const row = connection.get(`SELECT ${DOCUMENT_COLUMNS}, seq FROM ${table.quoted} WHERE id = ?`, [
    target.id,
  ]);
  if (row === undefined) return undefined;
  const before = toStored<T>(table, row);
  const { id, version, createdAt } = before;
  checkVersion(table, target, version);
  const seq = Number(row[5]);
  const oldSearch = searchText(before, table.searchPaths);
  const text = toJsonText(change(before));
  const now = session.stamps.now();
  connection.run(`UPDATE ${table.quoted} SET version = ?, updated_at = ?, doc = ? WHERE seq = ?`, [
    version + 1,
    now,
    text,
    seq,
  ]);
  const after = toStored<T>(table, [id, version + 1, createdAt, now, text]);
  const newSearch = searchText(after, table.searchPaths);
  if (newSearch !== oldSearch) {
    connection.run(`UPDATE ${table.quotedSearch} SET text = ? WHERE rowid = ?`, [newSearch, seq]);
  }
  return after;
}

/** Removes a document. */
export function removeOne(session: Session, table: Table, target: Target): boolean {
  const { connection } = session;
  const row = connection.get(`SELECT version, seq FROM ${table.quoted} WHERE id = ?`, [target.id]);
  if (row === undefined) return false;
  checkVersion(table, target, Number(row[0]));
  const seq = Number(row[1]);
  if (table.searchPaths.length > 0) {
    connection.run(`DELETE FROM ${table.quotedSearch} WHERE rowid = ?`, [seq]);
  }
  connection.run(`DELETE FROM ${table.quoted} WHERE seq = ?`, [seq]);
  session.addCount(table, -1);
  return true;
}

/** Removes the documents that a filter matches. */
export function removeMatching(session: Session, table: Table, filter: Filter): number {
  const { connection } = session;
  const sql = new Expressions(table.indexed);
  const where = whereSql(table, { filter, words: [] }, sql);
  if (table.searchPaths.length > 0) {
    connection.run(
      `DELETE FROM ${table.quotedSearch} WHERE rowid IN (SELECT seq FROM ${table.quoted}${where})`,
      sql.parameters,
    );
  }
  const removed = connection.run(`DELETE FROM ${table.quoted}${where}`, sql.parameters);
  session.addCount(table, -removed);
  return removed;
}

function checkVersion(table: Table, { ifVersion }: Target, current: number): void {
  if (ifVersion !== undefined && ifVersion !== current) {
    throw new VersionError(table.definition.name, { current, expected: ifVersion });
  }
}
