import type { CollectionDefinition } from "../../../api/definition.ts";
import { hasCode } from "../../../api/errors.ts";
import { createStamps } from "../../../document/stamps.ts";
import { Connection } from "../connection/connection.ts";
import { loadSqlite } from "../connection/load-sqlite.ts";
import { prepareCollection } from "../schema/prepare-collection.ts";
import { workOnSearch } from "../schema/search-generations.ts";
import { SqliteLayout } from "../statements/layout.ts";

/** Index or search that a thread builds. */
export interface BuildJob {
  /** Everything that collections need, or search texts that are missing. */
  readonly task: "prepare" | "search";
  readonly definitions: readonly CollectionDefinition<unknown>[];
  /** Milliseconds to wait for another connection that writes. Default: as long as it takes. */
  readonly busyTimeout?: number | undefined;
  /** Becomes 1 when the build is to end. */
  readonly stop: Int32Array;
}

/** Milliseconds for which a part of a build holds the file's lock, and between two parts. */
const buildTime = 25;
const pause = 15;
/** Time after which a file is tried again that another connection writes to, in milliseconds. */
const busyDelay = 5;

/** Builds what collections need, in parts so that other changes come in between. */
export function build({
  path,
  task,
  definitions,
  ...job
}: BuildJob & { readonly path: string }): void {
  const { DatabaseSync } = loadSqlite();
  const connection = new Connection(new DatabaseSync(path, { timeout: 0 }));
  try {
    // A build that a crash takes away is repeated; a commit of the store makes it durable too.
    connection.exec("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
    const layouts = definitions.map((definition) => new SqliteLayout(definition, createStamps()));
    if (task === "prepare") {
      inTransaction(connection, job, () => {
        for (const layout of layouts) prepareCollection(connection, layout);
      });
    } else {
      for (const layout of layouts) {
        const work = (): boolean => workOnSearch(connection, layout, buildTime);
        while (inTransaction(connection, job, work) === true) Atomics.wait(job.stop, 0, 0, pause);
      }
    }
  } finally {
    connection.close();
  }
}

/** Runs work when nobody else writes; undefined without running it at the build's end. */
function inTransaction<R>(
  connection: Connection,
  { busyTimeout = Infinity, stop }: Pick<BuildJob, "busyTimeout" | "stop">,
  work: () => R,
): R | undefined {
  const deadline = performance.now() + busyTimeout;
  while (Atomics.load(stop, 0) === 0) {
    try {
      connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (!hasCode(error, "ERR_DOCUMENTS_BUSY") || performance.now() >= deadline) throw error;
      Atomics.wait(stop, 0, 0, busyDelay);
      continue;
    }
    try {
      const result = work();
      connection.exec("COMMIT");
      return result;
    } finally {
      connection.rollback();
    }
  }
  return undefined;
}
