import { existsSync } from "node:fs";
import type { CollectionDefinition } from "../../api/definition.ts";
import type { AppliedMigration } from "../../api/migration.ts";
import type { DocumentRecord, Loading, Snapshot } from "../../api/transfer.ts";
import { checkRecord } from "../../document/check-record.ts";
import { searchText } from "../../document/fold.ts";
import { recordOf, recordPages, type SizedRecord } from "../../document/record-pages.ts";
import { type Cell, Connection } from "./connection.ts";
import { MIGRATIONS } from "./layout.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { place } from "./placing.ts";
import { readStatus } from "./planning.ts";
import { toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { quoteName } from "./sql.ts";
import { createTable, type Table } from "./table.ts";

/** Opens a reading connection of its own to the file of another one; undefined when it has no name. */
export function openBeside(connection: Connection): Connection | undefined {
  const path = connection.get("SELECT file FROM pragma_database_list WHERE name = 'main'", [])?.[0];
  if (typeof path !== "string" || path === "" || !existsSync(path)) return undefined;
  const { DatabaseSync } = loadSqlite();
  return new Connection(new DatabaseSync(path, { readOnly: true, timeout: 5000 }));
}

/** Shows the store as a connection sees it, in whose transaction this happens. */
export function createSnapshot(connection: Connection): Snapshot {
  return {
    status: readStatus(connection),
    records(collection, { after = "" } = {}) {
      const table = quoteName(collection);
      const columns = connection.all("SELECT name FROM pragma_table_info(?)", [collection]);
      const deletedAt = columns.some(([name]) => name === "deleted_at") ? "deleted_at" : "NULL";
      const sql =
        `SELECT id, version, created_at, updated_at, doc, ${deletedAt} FROM ${table} ` +
        "WHERE id > ? ORDER BY id LIMIT ?";
      const shape = createTable({ name: collection, unique: [], indexes: [], search: [] });
      return recordPages(
        (last, limit) =>
          new Promise((resolve) => {
            resolve(connection.all(sql, [last, limit]).map((row) => toRecord(shape, row)));
          }),
        after,
      );
    },
  };
}

/** Puts documents into the store, in the transaction of a session. */
export function createLoading(
  session: Session,
  tableOf: (definition: CollectionDefinition<object>) => Table,
): Loading {
  return {
    add: (definition, records) =>
      attempt(() => {
        session.run(tableOf(definition), () => {
          const table = tableOf(definition);
          session.atomically(() => {
            for (const record of records) loadOne(session, table, record);
          });
          const live = records.filter(({ deletedAt }) => deletedAt === undefined);
          session.addCount(table, live.length);
        });
      }),
    noteMigrations: (migrations) =>
      attempt(() => {
        session.run(undefined, () => {
          for (const migration of migrations) noteOne(session, migration);
        });
      }),
  };
}

function toRecord(table: Table, row: readonly unknown[]): SizedRecord {
  // Only checks the row, whose columns may be damaged.
  toStored(table, row.slice(0, 5));
  return recordOf(row);
}

function loadOne(session: Session, table: Table, given: DocumentRecord): void {
  const { connection } = session;
  const record = checkRecord(given, table);
  const { id, version, createdAt, updatedAt, deletedAt, text } = record;
  const stored = toStored<object>(table, [id, version, createdAt, updatedAt, text]);
  const columns = ["id", "version", "created_at", "updated_at", "doc"];
  const values: Cell[] = [id, version, createdAt, updatedAt, text];
  if (table.softDelete) {
    columns.push("deleted_at");
    values.push(deletedAt ?? null);
  }
  if (table.expiresAt !== undefined) {
    columns.push("expires_at");
    values.push(table.expiresAt(stored));
  }
  const seq = connection.get(
    `INSERT INTO ${table.quoted} (${columns.join(", ")}) ` +
      `VALUES (${columns.map(() => "?").join(", ")}) RETURNING seq`,
    values,
  )?.[0];
  place(connection, table, { seq: Number(seq), stored });
  if (table.searchPaths.length === 0) return;
  connection.run(`INSERT INTO ${table.quotedSearch} (rowid, text) VALUES (?, ?)`, [
    Number(seq),
    searchText(stored, table.searchPaths),
  ]);
}

function noteOne({ connection }: Session, { id, name, at }: AppliedMigration): void {
  connection.run(`INSERT OR IGNORE INTO ${MIGRATIONS} (id, name, at) VALUES (?, ?, ?)`, [
    id,
    name,
    at,
  ]);
}

/** Does the work at once; what it throws becomes a rejection. */
function attempt(work: () => void): Promise<void> {
  return new Promise((resolve) => {
    work();
    resolve();
  });
}
