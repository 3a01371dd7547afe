import { setTimeout as wait } from "node:timers/promises";
import type { Collection } from "../../api/collection.ts";
import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsError } from "../../api/errors.ts";
import type { Migration } from "../../api/migration.ts";
import type { Transaction } from "../../api/store.ts";
import { migrationError, pendingMigrations } from "../../migrations/migrate.ts";
import { accessThrough } from "./access.ts";
import { MIGRATIONS } from "./layout.ts";
import { appliedMigrations } from "./planning.ts";
import type { Session } from "./session.ts";
import { SqliteCollection } from "./sqlite-collection.ts";
import { createTable, type Table } from "./table.ts";
import type { Writer } from "./writer.ts";

const TIMEOUT = 3_600_000;
const BUSY_RETRY = 100;

/**
 * Runs the migrations that did not run yet, each in a transaction with the note that it did. What is
 * pending is looked up inside it, so that of any number of processes one runs each.
 */
export async function migrate(writer: Writer, migrations: readonly Migration[]): Promise<void> {
  const deadline = performance.now() + TIMEOUT;
  for (;;) {
    try {
      const isDone = await writer.transaction(
        (session) => migrateOnce(session, migrations),
        TIMEOUT,
      );
      if (isDone) return;
    } catch (error) {
      const isBusy = error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_BUSY";
      if (!isBusy || performance.now() > deadline) throw error;
      // Another process migrates.
      await wait(BUSY_RETRY);
    }
  }
}

/** Runs the first pending migration; tells whether there was none. */
async function migrateOnce(session: Session, migrations: readonly Migration[]): Promise<boolean> {
  const [next] = pendingMigrations(migrations, appliedMigrations(session.connection));
  if (next === undefined) return true;
  try {
    await next.up(createTransaction(session));
  } catch (error) {
    throw migrationError(next, error);
  }
  session.connection.run(`INSERT INTO ${MIGRATIONS} (id, name, at) VALUES (?, ?, ?)`, [
    next.id,
    next.name,
    session.stamps.now(),
  ]);
  return false;
}

/** A migration's definitions are those of its time, so they are not those of the store. */
function createTransaction(session: Session): Transaction {
  const tables = new Map<CollectionDefinition<object>, Table>();
  const access = accessThrough(session);
  return {
    collection<T extends object>(definition: CollectionDefinition<T>): Collection<T> {
      const table = tables.get(definition) ?? createTable(definition);
      tables.set(definition, table);
      return new SqliteCollection<T>(access, table);
    },
  };
}
