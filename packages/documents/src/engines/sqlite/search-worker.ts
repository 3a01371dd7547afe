import { workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsError } from "../../api/errors.ts";
import { createStamps } from "../../document/stamps.ts";
import { Connection } from "./connection/connection.ts";
import { loadSqlite } from "./connection/load-sqlite.ts";
import { workOnSearch } from "./search-schema.ts";
import { SqliteLayout } from "./statements/layout.ts";

/** Time for which a part of a build holds the lock of the file, and time between two parts, in milliseconds. */
const buildTime = 25;
const pause = 15;
/** Time after which a file is tried again that another connection writes to, in milliseconds. */
const busyDelay = 5;

const { path, definition, stop } = readJob(workerData);
const { DatabaseSync } = loadSqlite();
const connection = new Connection(new DatabaseSync(path, { timeout: 0 }));
try {
  // What a crash takes away is derived again; a commit of the store itself makes it durable too.
  connection.exec("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
  const layout = new SqliteLayout(definition, createStamps());
  while (buildPart(layout)) Atomics.wait(stop, 0, 0, pause);
} finally {
  connection.close();
}

/** Builds a part; returns whether to go on. */
function buildPart(layout: SqliteLayout): boolean {
  while (Atomics.load(stop, 0) === 0) {
    try {
      connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (!(error instanceof DocumentsError) || error.code !== "ERR_DOCUMENTS_BUSY") throw error;
      Atomics.wait(stop, 0, 0, busyDelay);
      continue;
    }
    try {
      const hasMore = workOnSearch(connection, layout, buildTime);
      connection.exec("COMMIT");
      return hasMore;
    } finally {
      connection.rollback();
    }
  }
  return false;
}

function readJob(data: unknown): {
  readonly path: string;
  readonly definition: CollectionDefinition<unknown>;
  readonly stop: Int32Array;
} {
  if (isObject(data)) {
    const { path: file, definition: wanted, stop: flag } = data;
    if (typeof file === "string" && isDefinition(wanted) && flag instanceof Int32Array) {
      return { path: file, definition: wanted, stop: flag };
    }
  }
  throw new TypeError("the job of the thread is malformed");
}

function isDefinition(value: unknown): value is CollectionDefinition<unknown> {
  return isObject(value) && typeof value["name"] === "string" && Array.isArray(value["search"]);
}
