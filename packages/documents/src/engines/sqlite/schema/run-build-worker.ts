import { once } from "node:events";
import type { CollectionDefinition } from "../../../api/definition.ts";
import { startThread } from "../threads/start-thread.ts";

/** What a thread builds of collections: everything that they need, or search texts that are missing. */
export type BuildTask = "prepare" | "search";

/** What a thread is given to do. */
export interface BuildJob {
  readonly path: string;
  readonly task: BuildTask;
  readonly definitions: readonly CollectionDefinition<unknown>[];
  /** Time to wait for another connection that writes, in milliseconds. By default as long as it takes. */
  readonly busyTimeout?: number | undefined;
  /** Becomes 1 when the build is to end. */
  readonly stop: Int32Array;
}

/** Builds what collections need in a thread; resolves when it is done, or soon after `signal`. */
export async function runBuildWorker(
  path: string,
  { task, definitions, busyTimeout }: Pick<BuildJob, "busyTimeout" | "definitions" | "task">,
  signal: AbortSignal,
): Promise<void> {
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = startThread("./build-worker", import.meta.url, {
    path,
    task,
    definitions,
    busyTimeout,
    stop,
  } satisfies BuildJob);
  const end = (): void => {
    Atomics.store(stop, 0, 1);
    Atomics.notify(stop, 0);
    // The store waits for it when it is closed.
    worker.ref();
  };
  // Search texts do not keep the process from ending; the next one goes on.
  if (task === "search") worker.unref();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    await once(worker, "exit");
  } finally {
    signal.removeEventListener("abort", end);
  }
}
