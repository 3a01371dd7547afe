import { parentPort, workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { care, type CareTask } from "./care.ts";
import { loadSqlite } from "./load-sqlite.ts";

const BUSY_TIMEOUT = 5000;

const { path, task } = readJob(workerData);
const { DatabaseSync } = loadSqlite();
const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT });
try {
  parentPort?.postMessage(care(database, task));
} finally {
  database.close();
}

function readJob(data: unknown): { readonly path: string; readonly task: CareTask } {
  if (isObject(data) && typeof data["path"] === "string" && isObject(data["task"])) {
    const { to } = data["task"];
    const task: CareTask = typeof to === "string" ? { kind: "backup", to } : { kind: "check" };
    return { path: data["path"], task };
  }
  throw new TypeError("The job of the thread is malformed");
}
