import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { toDocumentsError } from "../connection/sqlite-error.ts";
import type { BuildJob } from "./build.ts";
import type { MaintenanceTask } from "./maintenance.ts";

/** Tasks of a thread. */
export type ThreadTask =
  | (BuildJob & { readonly kind: "build"; readonly path: string })
  | { readonly kind: "maintain"; readonly path: string; readonly task: MaintenanceTask }
  | { readonly kind: "read"; readonly path: string };

/** Starts a thread. */
export function startThread(task: ThreadTask): Worker {
  // The sources run as they are, and the package as JavaScript.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./thread.${extension}`, import.meta.url);
  return new Worker(url, { workerData: task, ...ownFlags() });
}

/** Does a task on a file in a separate thread. */
export async function runMaintenance(
  path: string,
  task: MaintenanceTask,
): Promise<readonly string[]> {
  const worker = startThread({ kind: "maintain", path, task });
  let problems: unknown;
  worker.once("message", (message: unknown) => {
    problems = message;
  });
  try {
    // It ends by itself: a thread that is terminated while SQLite closes a file may take the
    // process along.
    await once(worker, "exit");
    if (!Array.isArray(problems)) throw new Error("the thread ended before it was done");
    return problems.map(String);
  } catch (error) {
    throw toDocumentsError(error);
  }
}

/** Builds what collections need in a thread; resolves when it is done, or soon after `signal`. */
export async function runBuild(
  path: string,
  job: Omit<BuildJob, "stop">,
  signal: AbortSignal,
): Promise<void> {
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = startThread({ kind: "build", path, stop, ...job });
  const end = (): void => {
    Atomics.store(stop, 0, 1);
    Atomics.notify(stop, 0);
    // The store waits for it when it is closed.
    worker.ref();
  };
  // Search texts do not keep the process from ending; the next one goes on.
  if (job.task === "search") worker.unref();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    await once(worker, "exit");
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/**
 * Returns the flags of a thread where it cannot have those of the process: with `--input-type`,
 * which belongs to a program on the command line, Node refuses to run a file. The conditions still
 * decide which files packages consist of.
 */
function ownFlags(): { readonly execArgv?: string[] } {
  const flags = process.execArgv;
  if (!flags.some((flag) => flag.startsWith("--input-type"))) return {};
  return { execArgv: flags.filter((flag) => /^(?:--conditions|-C)=/.test(flag)) };
}
