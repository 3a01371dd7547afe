import { parentPort, workerData } from "node:worker_threads";
import { isObject } from "@fetchwork/kit";
import { openReadingConnection } from "../connection/open-reader.ts";
import { build } from "./build.ts";
import { maintain } from "./maintenance.ts";
import { serveSlowReads } from "./serve-slow-reads.ts";
import type { ThreadTask } from "./start-thread.ts";

const task: unknown = workerData;
if (!isTask(task)) throw new TypeError("the task of the thread is malformed");
switch (task.kind) {
  case "build":
    build(task);
    break;
  case "maintain": {
    const connection = openReadingConnection(task.path);
    try {
      parentPort?.postMessage(maintain(connection, task.task));
    } finally {
      connection.close();
    }
    break;
  }
  case "read":
    if (parentPort !== null) serveSlowReads(parentPort, task.path);
}

function isTask(data: unknown): data is ThreadTask {
  return isObject(data) && typeof data["kind"] === "string" && typeof data["path"] === "string";
}
