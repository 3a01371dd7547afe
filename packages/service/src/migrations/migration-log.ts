import type { Log } from "../log/log.ts";
import type { DocumentMigration } from "./document-migration.ts";
import type { MigrationReport } from "./run-migrations.ts";

/** Milliseconds between two lines about a migration that runs. */
const interval = 10_000;

/** Logs that a migration begins and ends, and how far it is. */
export function logMigration(
  logs: Pick<Log, "noted"> | undefined,
  { id, name }: DocumentMigration,
  documents: number,
): MigrationReport {
  const title = `migration ${id} (${name})`;
  logs?.noted(`${title} begins: ${documents} documents`);
  let read = 0;
  let notedAt = performance.now();
  return {
    part(_collection, added) {
      read += added;
      if (performance.now() - notedAt < interval) return;
      notedAt = performance.now();
      logs?.noted(`${title}: ${read} of ${documents} documents`);
    },
    done: (changed) => logs?.noted(`${title} is done: ${changed} documents changed`),
  };
}
