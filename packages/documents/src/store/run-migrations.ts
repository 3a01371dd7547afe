import type { Collection } from "../api/collection.ts";
import type { CollectionDefinition } from "../api/definition.ts";
import type { Migration } from "../api/migration.ts";
import type { Transaction } from "../api/transaction.ts";
import type { Engine, TransactionAccess } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import { readMigrations, recordMigration } from "../engines/operations/migrations.ts";
import { migrationError, pendingMigrations } from "../migrations/migrate.ts";
import { DocumentCollection } from "./document-collection.ts";

/**
 * Runs the migrations that did not run yet, each in a transaction with the record that it ran.
 * Pending ones are looked up inside of it, so that one of any number of processes runs each.
 */
export async function runMigrations(
  engine: Engine,
  migrations: readonly Migration[],
): Promise<void> {
  for (let isDone = false; !isDone;) {
    isDone = await engine.migrate((access) => runNext(engine, access, migrations));
  }
}

/** Runs the first pending migration; returns whether there was none. */
async function runNext(
  engine: Engine,
  access: TransactionAccess,
  migrations: readonly Migration[],
): Promise<boolean> {
  const applied = await access.own((begin) => readMigrations(begin()));
  const [next] = pendingMigrations(migrations, applied);
  if (next === undefined) return true;
  try {
    await next.up(transactionThrough(engine, access));
  } catch (error) {
    throw migrationError(next, error);
  }
  const { id, name } = next;
  const at = new Date().toISOString();
  await access.own((begin) => recordMigration(begin(), { id, name, at }));
  return false;
}

/** The definitions of a migration are those of its time, so they are not those of the store. */
function transactionThrough(engine: Engine, access: TransactionAccess): Transaction {
  const layouts = new Map<CollectionDefinition<object>, Layout>();
  return {
    collection<T extends object>(definition: CollectionDefinition<T>): Collection<T> {
      const layout = layouts.get(definition) ?? engine.layout(definition);
      layouts.set(definition, layout);
      return new DocumentCollection<T>(access, layout);
    },
  };
}
