import { setTimeout as sleep } from "node:timers/promises";
import { type CollectionDefinition, DocumentsError, type Store } from "@fetchwork/documents";
import { StartError } from "../errors.ts";
import type { Log } from "../log/log.ts";
import type { DocumentMigration } from "./document-migration.ts";
import { logMigration } from "./migration-log.ts";
import { pendingMigrations } from "./migration-status.ts";
import { runMigrations } from "./run-migrations.ts";

/** Milliseconds after which a process looks again whether another one still runs migrations. */
const pause = 2_000;

/** Parts of a service that migrations at a start need. */
export interface StartMigrations {
  readonly migrations: readonly DocumentMigration[];
  readonly collections: readonly CollectionDefinition<object>[];
  /** Ends it between two parts; the next start goes on. */
  readonly signal: AbortSignal;
  /** Default: nothing is logged. */
  readonly logs: Pick<Log, "failed" | "noted"> | undefined;
}

/**
 * Runs the pending migrations in parts while the service serves. One process runs them. The others
 * wait, and go on with what it left when it ends. A failure is logged, and never rejects.
 */
export async function migrateAtStart(
  store: Store,
  { collections, logs, migrations, signal }: StartMigrations,
): Promise<void> {
  const definitions = new Map(collections.map((each) => [each.name, each]));
  try {
    for (;;) {
      const pending = await pendingMigrations(store, migrations);
      if (pending.length === 0 || signal.aborted) return;
      try {
        await runMigrations(store, migrations, {
          definitions,
          direction: "up",
          choose: (status) => status.pending,
          begin: (migration, documents) => logMigration(logs, migration, documents),
          signal,
          wait: 0,
        });
        return;
      } catch (error) {
        if (!isHeldElsewhere(error)) throw error;
      }
      await sleep(pause, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) return logs?.noted("the migrations stopped: the next start goes on");
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the migrations failed, and the next start tries again: ${reason}`;
    logs?.failed(new StartError(message, { cause: error }));
  }
}

/** Another process has the lock, or has taken it because this one was busy for too long. */
function isHeldElsewhere(error: unknown): boolean {
  return (
    error instanceof DocumentsError &&
    (error.code === "ERR_DOCUMENTS_LOCKED" || error.code === "ERR_DOCUMENTS_LEASE")
  );
}
