import type { AppliedMigration, Migration } from "../../api/migration.ts";
import type { Transaction } from "../../api/store.ts";
import { migrationError, pendingMigrations } from "../../migrations/migrate.ts";
import { MIGRATIONS } from "./own-tables.ts";
import type { BoundSession, Session } from "./session.ts";
import type { Transactions } from "./transactions.ts";

const TIMEOUT = 3_600_000;

/** What to run, and how. */
export interface Migrating {
  readonly migrations: readonly Migration[];
  /** Whether the caller keeps every other process out. */
  readonly isLocked: boolean;
  readonly createTransaction: (session: BoundSession) => Transaction;
}

/**
 * Runs the migrations that did not run yet, each in a transaction with the note that it did. The
 * table of notes is locked before the transaction sees anything, so that of any number of processes
 * one runs each.
 */
export async function migrate(transactions: Transactions, migrating: Migrating): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await transactions.run((session) => migrateOnce(session, migrating), {
      timeout: TIMEOUT,
    });
  }
}

/** Runs the first pending migration; tells whether there was none. */
async function migrateOnce(
  session: BoundSession,
  { migrations, createTransaction, isLocked }: Migrating,
): Promise<boolean> {
  if (!isLocked) {
    await session.read({ text: `LOCK TABLE ${MIGRATIONS} IN EXCLUSIVE MODE`, values: [] });
  }
  const [next] = pendingMigrations(migrations, await appliedMigrations(session));
  if (next === undefined) return true;
  try {
    await next.up(createTransaction(session));
  } catch (error) {
    throw migrationError(next, error);
  }
  await session.write({
    text: `INSERT INTO ${MIGRATIONS} (id, name, at) VALUES ($1, $2, $3)`,
    values: [next.id, next.name, session.stamps.now()],
  });
  return false;
}

async function appliedMigrations(session: Session): Promise<readonly AppliedMigration[]> {
  const { rows } = await session.read({
    text: `SELECT id, name, at FROM ${MIGRATIONS} ORDER BY id`,
    values: [],
  });
  return rows.map(([id, name, at]) => {
    return { id: Number(id), name: String(name), at: String(at) };
  });
}
