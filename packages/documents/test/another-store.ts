import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreOptions } from "../src/index.ts";
import type { BuildAway } from "../src/engines/sqlite/building.ts";
import { Connection } from "../src/engines/sqlite/connection/connection.ts";
import { openReadingConnection } from "../src/engines/sqlite/connection/open-reader.ts";
import { setUpFile } from "../src/engines/sqlite/set-up-file.ts";
import { SqliteEngine } from "../src/engines/sqlite/sqlite-engine.ts";
import { SlowReads } from "../src/engines/sqlite/threads/slow-reads.ts";
import { runBuild, runMaintenance } from "../src/engines/sqlite/threads/start-thread.ts";
import { DocumentStore } from "../src/store/document-store.ts";

/**
 * Opens a file of SQLite that other stores of this process may have open, as another process would.
 * `buildAway` builds in a thread, by default the one that a store has.
 */
export async function openAnother(
  path: string,
  { collections = [], busyTimeout = 5000 }: StoreOptions = {},
  buildAway: BuildAway = (job, signal) => runBuild(resolve(path), job, signal),
): Promise<DocumentStore> {
  const writer = new Connection(new DatabaseSync(path, { timeout: 0 }));
  setUpFile(writer, path, { create: true });
  const reader = openReadingConnection(path, busyTimeout);
  const engine = new SqliteEngine(
    {
      writer,
      reader,
      maintain: (task) => runMaintenance(path, task),
      buildAway,
      slowReads: new SlowReads(resolve(path)),
      openReader: () => openReadingConnection(path),
      release: () => undefined,
    },
    { busyTimeout },
  );
  const store = new DocumentStore(engine);
  await store.prepare(collections);
  return store;
}
