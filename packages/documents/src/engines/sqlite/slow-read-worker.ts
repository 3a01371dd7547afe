import { parentPort, workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { Connection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { type QueryResult, runQuery } from "./query-task.ts";
import type { Failure, Job, Part } from "./slow-reads.ts";
import { resultCode } from "./sqlite-error.ts";
import { createTable } from "./table.ts";

const BUSY_TIMEOUT = 5000;
/** The rows of one message: about as long as the main thread may be held up. */
const PART = 500;

let connection: Connection | undefined;
let rest: QueryResult = { rows: [], count: 0 };
let sent = 0;

parentPort?.on("message", (message: unknown) => {
  if (isJob(message)) {
    try {
      rest = answer(message);
      sent = 0;
    } catch (error) {
      parentPort?.postMessage(toFailure(error));
      return;
    }
  }
  parentPort?.postMessage(nextPart());
});

function nextPart(): Part {
  const rows = rest.rows.slice(sent, sent + PART);
  sent += rows.length;
  if (sent < rest.rows.length) return { rows };
  const { count } = rest;
  rest = { rows: [], count: 0 };
  return { rows, count };
}

/** Reads all of it at one moment. */
function answer({ definition, task }: Job): QueryResult {
  connection ??= open();
  connection.exec("BEGIN");
  try {
    return runQuery({ connection, uncounted: () => 0 }, createTable(definition), task);
  } finally {
    connection.rollback();
  }
}

function open(): Connection {
  if (!isObject(workerData) || typeof workerData["path"] !== "string") {
    throw new TypeError("The thread was given no file");
  }
  const { DatabaseSync } = loadSqlite();
  return new Connection(
    new DatabaseSync(workerData["path"], { readOnly: true, timeout: BUSY_TIMEOUT }),
  );
}

function isJob(message: unknown): message is Job {
  return isObject(message) && isObject(message["definition"]) && isObject(message["task"]);
}

/** The error of SQLite itself: what it is to this package is said where it arrives. */
function toFailure(error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return {
    message: cause instanceof Error ? cause.message : String(cause),
    errcode: resultCode(cause),
  };
}
