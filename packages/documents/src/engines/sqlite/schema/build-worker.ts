import { workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import type { CollectionDefinition } from "../../../api/definition.ts";
import { DocumentsError } from "../../../api/errors.ts";
import { createStamps } from "../../../document/stamps.ts";
import { Connection } from "../connection/connection.ts";
import { loadSqlite } from "../connection/load-sqlite.ts";
import { SqliteLayout } from "../statements/layout.ts";
import { prepareCollection } from "./prepare-collection.ts";
import { workOnSearch } from "./search-generations.ts";
import type { BuildJob } from "./run-build-worker.ts";

/** Time for which a part of a build holds the lock of the file, and time between two parts, in milliseconds. */
const buildTime = 25;
const pause = 15;
/** Time after which a file is tried again that another connection writes to, in milliseconds. */
const busyDelay = 5;

const { path, task, definitions, busyTimeout = Infinity, stop } = readJob(workerData);
const { DatabaseSync } = loadSqlite();
const connection = new Connection(new DatabaseSync(path, { timeout: 0 }));
try {
  // What a crash takes away is built again; a commit of the store itself makes it durable too.
  connection.exec("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
  const layouts = definitions.map((definition) => new SqliteLayout(definition, createStamps()));
  if (task === "prepare") {
    inTransaction(() => {
      for (const layout of layouts) prepareCollection(connection, layout);
    });
  } else {
    for (const layout of layouts) {
      while (inTransaction(() => workOnSearch(connection, layout, buildTime)) === true) {
        Atomics.wait(stop, 0, 0, pause);
      }
    }
  }
} finally {
  connection.close();
}

/** Runs work when no other connection writes; returns undefined without running it when the build is to end. */
function inTransaction<R>(work: () => R): R | undefined {
  const deadline = performance.now() + busyTimeout;
  while (Atomics.load(stop, 0) === 0) {
    try {
      connection.exec("BEGIN IMMEDIATE");
    } catch (error) {
      const isBusy = error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_BUSY";
      if (!isBusy || performance.now() >= deadline) throw error;
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

function readJob(data: unknown): BuildJob {
  if (isObject(data)) {
    const { path: file, task: wanted, definitions: list, busyTimeout: time, stop: flag } = data;
    const isTask = wanted === "prepare" || wanted === "search";
    if (typeof file === "string" && isTask && areDefinitions(list) && flag instanceof Int32Array) {
      const limit = typeof time === "number" ? time : undefined;
      return { path: file, task: wanted, definitions: list, busyTimeout: limit, stop: flag };
    }
  }
  throw new TypeError("the job of the thread is malformed");
}

function areDefinitions(value: unknown): value is readonly CollectionDefinition<unknown>[] {
  return Array.isArray(value) && value.every(isDefinition);
}

function isDefinition(value: unknown): boolean {
  return isObject(value) && typeof value["name"] === "string" && Array.isArray(value["search"]);
}
