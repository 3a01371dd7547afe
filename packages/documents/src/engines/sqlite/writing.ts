import type { Stored } from "../../api/document.ts";
import { UniqueError, VersionError } from "../../api/errors.ts";
import { searchText } from "../../document/fold.ts";
import { toJsonText } from "../../document/json-text.ts";
import type { Filter } from "../../query/filter.ts";
import type { NewDocument, Target } from "../../query/targets.ts";
import type { Cell } from "./connection.ts";
import { deleteMatching, deleteRow } from "./deleting.ts";
import { checkLease } from "./leasing.ts";
import { place, replace } from "./placing.ts";
import { whereSql } from "./reading.ts";
import { recordChange, recordMatching } from "./recording.ts";
import { toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Expressions } from "./sql.ts";
import { sweepTable } from "./sweeping.ts";
import { type Table, visibleTerms } from "./table.ts";

/** Adds a document, without counting it. */
export function insertOne<T>(session: Session, table: Table, document: NewDocument): Stored<T> {
  const { connection, stamps } = session;
  const id = document.id ?? stamps.id();
  const now = stamps.now();
  const stored = toStored<T>(table, [id, 1, now, now, document.text]);
  const columns = ["id", "version", "created_at", "updated_at", "doc"];
  const values: Cell[] = [id, 1, now, now, document.text];
  if (table.expiresAt !== undefined) {
    columns.push("expires_at");
    values.push(table.expiresAt(stored));
  }
  const seq = pastExpired(session, table, () =>
    connection.insert(
      `INSERT INTO ${table.quoted} (${columns.join(", ")}) ` +
        `VALUES (${columns.map(() => "?").join(", ")})`,
      values,
    ),
  );
  if (table.searchPaths.length > 0) {
    connection.run(`INSERT INTO ${table.quotedSearch} (rowid, text) VALUES (?, ?)`, [
      seq,
      searchText(stored, table.searchPaths),
    ]);
  }
  place(connection, table, { seq, stored });
  recordChange(session, table, { kind: "insert", id, version: 1, at: now, text: document.text });
  return stored;
}

/** What to make of a document, and of which state of it. */
export interface Modification<T> {
  /** Whether the document is one that was removed, to be brought back. Default: `false`. */
  readonly restores?: boolean;
  readonly make: (stored: Stored<T>) => unknown;
}

/** Changes a document to what the modification makes of the stored one. */
export function changeOne<T>(
  session: Session,
  table: Table,
  target: Target,
  { restores = false, make }: Modification<T>,
): Stored<T> | undefined {
  const { connection } = session;
  const row = targetRow(session, table, target, restores);
  if (row === undefined) return undefined;
  const before = toStored<T>(table, [...row.slice(0, 5), null]);
  const { id, version, createdAt } = before;
  checkTarget(session, table, target, version);
  const seq = Number(row[6]);
  const oldSearch = searchText(before, table.searchPaths);
  const text = toJsonText(make(before), table.reserved);
  const now = session.stamps.now();
  const after = toStored<T>(table, [id, version + 1, createdAt, now, text]);
  const columns = ["version = ?", "updated_at = ?", "doc = ?"];
  const values: Cell[] = [version + 1, now, text];
  if (restores) columns.push("deleted_at = NULL");
  if (table.expiresAt !== undefined) {
    columns.push("expires_at = ?");
    values.push(table.expiresAt(after));
  }
  pastExpired(session, table, () =>
    connection.run(`UPDATE ${table.quoted} SET ${columns.join(", ")} WHERE seq = ?`, [
      ...values,
      seq,
    ]),
  );
  const newSearch = searchText(after, table.searchPaths);
  if (newSearch !== oldSearch) {
    connection.run(`UPDATE ${table.quotedSearch} SET text = ? WHERE rowid = ?`, [newSearch, seq]);
  }
  replace(connection, table, { seq, before, after });
  const kind = restores ? "restore" : "update";
  recordChange(session, table, { kind, id, version: version + 1, at: now, text });
  if (restores) session.addCount(table, 1);
  return after;
}

/** Removes a document. */
export function removeOne(session: Session, table: Table, target: Target): boolean {
  const { connection } = session;
  const row = targetRow(session, table, target, false);
  if (row === undefined) return false;
  const version = Number(row[1]);
  checkTarget(session, table, target, version);
  const seq = Number(row[6]);
  const now = session.stamps.now();
  if (table.softDelete) {
    connection.run(
      `UPDATE ${table.quoted} SET version = version + 1, updated_at = ?, deleted_at = ? WHERE seq = ?`,
      [now, now, seq],
    );
    const text = String(row[4]);
    recordChange(session, table, {
      kind: "remove",
      id: target.id,
      version: version + 1,
      at: now,
      text,
    });
  } else {
    deleteRow(session, table, seq);
    recordChange(session, table, {
      kind: "remove",
      id: target.id,
      version,
      at: now,
      text: undefined,
    });
  }
  session.addCount(table, -1);
  return true;
}

/** Removes the documents that a filter matches. */
export function removeMatching(session: Session, table: Table, filter: Filter): number {
  const { connection } = session;
  const sql = new Expressions(table.indexed);
  const where = whereSql(table, { filter, words: [], deleted: "exclude" }, sql);
  const { parameters } = sql;
  const added = table.softDelete ? 1 : 0;
  const now = session.stamps.now();
  recordMatching(session, table, { kind: "remove", added, at: now, where, parameters });
  const removed = table.softDelete
    ? connection.run(
        `UPDATE ${table.quoted} SET version = version + 1, updated_at = ?, deleted_at = ?${where}`,
        [now, now, ...parameters],
      )
    : deleteMatching(session, table, { where, parameters });
  session.addCount(table, -removed);
  return removed;
}

/** Removes a removed document for good. */
export function purgeOne(session: Session, table: Table, id: string): boolean {
  const row = targetRow(session, table, { id, ifVersion: undefined }, true);
  if (row === undefined) return false;
  deleteRow(session, table, Number(row[6]));
  const at = session.stamps.now();
  recordChange(session, table, { kind: "purge", id, version: Number(row[1]), at, text: undefined });
  return true;
}

/** Removes the removed documents that a filter matches for good. */
export function purgeMatching(
  session: Session,
  table: Table,
  {
    filter,
    deletedBefore,
  }: {
    readonly filter: Filter | undefined;
    readonly deletedBefore: string | undefined;
  },
): number {
  const sql = new Expressions(table.indexed);
  const clause = whereSql(table, { filter, words: [], deleted: "only" }, sql);
  const where =
    deletedBefore === undefined ? clause : `${clause} AND deleted_at < ${sql.bind(deletedBefore)}`;
  const { parameters } = sql;
  const at = session.stamps.now();
  recordMatching(session, table, { kind: "purge", added: 0, at, where, parameters });
  return deleteMatching(session, table, { where, parameters });
}

/** Finds the document that has the values of a unique index. */
export function findByFields(session: Session, table: Table, filter: Filter): string | undefined {
  const sql = new Expressions(table.indexed);
  const where = whereSql(table, { filter, words: [], deleted: "exclude" }, sql);
  const id = session.connection.get(
    `SELECT id FROM ${table.quoted}${where} LIMIT 1`,
    sql.parameters,
  )?.[0];
  return typeof id === "string" ? id : undefined;
}

/** Reads what {@link toStored} takes, and `seq`, of the document that is meant. */
function targetRow(
  { connection }: Session,
  table: Table,
  { id }: Target,
  isRemoved: boolean,
): readonly unknown[] | undefined {
  const sql = new Expressions(table.indexed);
  const bind = (value: Cell): string => sql.bind(value);
  const terms = [`id = ${sql.bind(id)}`];
  terms.push(...visibleTerms(table, { deleted: isRemoved ? "only" : "exclude", bind }));
  return connection.get(
    `SELECT ${table.columns}, seq FROM ${table.quoted} WHERE ${terms.join(" AND ")}`,
    sql.parameters,
  );
}

function checkTarget(session: Session, table: Table, target: Target, current: number): void {
  const { ifVersion } = target;
  if (ifVersion !== undefined && ifVersion !== current) {
    throw new VersionError(table.definition.name, { current, expected: ifVersion });
  }
  if (target.lease !== undefined)
    checkLease(session, table, { id: target.id, token: target.lease });
}

/** Lets a document that expired, and was not removed yet, be in nobody's way. */
function pastExpired<R>(session: Session, table: Table, statement: () => R): R {
  try {
    return statement();
  } catch (error) {
    const isTaken = error instanceof UniqueError && table.expiresAt !== undefined;
    if (!isTaken || sweepTable(session, table) === 0) throw error;
    return statement();
  }
}
