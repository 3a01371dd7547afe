import { parentPort, workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { loadSqlite } from "../connection/load-sqlite.ts";
import { maintain, type MaintenanceTask } from "./maintenance.ts";

const BUSY_TIMEOUT = 5000;

const { path, task } = readJob(workerData);
const { DatabaseSync } = loadSqlite();
const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT });
try {
  parentPort?.postMessage(maintain(database, task));
} finally {
  database.close();
}

function readJob(data: unknown): { readonly path: string; readonly task: MaintenanceTask } {
  if (isObject(data) && typeof data["path"] === "string" && isObject(data["task"])) {
    const { to } = data["task"];
    const task: MaintenanceTask =
      typeof to === "string" ? { kind: "backup", to } : { kind: "check" };
    return { path: data["path"], task };
  }
  throw new TypeError("The job of the thread is malformed");
}
