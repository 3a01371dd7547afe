import { parentPort, workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { openReadingConnection } from "../connection/open-reader.ts";
import { maintain, type MaintenanceTask } from "./maintenance.ts";

const { path, task } = readJob(workerData);
const connection = openReadingConnection(path);
try {
  parentPort?.postMessage(maintain(connection, task));
} finally {
  connection.close();
}

function readJob(data: unknown): { readonly path: string; readonly task: MaintenanceTask } {
  if (isObject(data) && typeof data["path"] === "string" && isObject(data["task"])) {
    const { to } = data["task"];
    const task: MaintenanceTask =
      typeof to === "string" ? { kind: "backup", to } : { kind: "check" };
    return { path: data["path"], task };
  }
  throw new TypeError("the job of the thread is malformed");
}
