import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { CollectionDefinition } from "../../api/definition.ts";

/** Derives the missing search texts of a collection in a thread; resolves when it is done, or soon after `signal`. */
export async function runSearchWorker(
  path: string,
  definition: CollectionDefinition<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const end = (): void => {
    Atomics.store(stop, 0, 1);
    Atomics.notify(stop, 0);
  };
  // The sources run as they are, and the package as JavaScript.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./search-worker.${extension}`, import.meta.url), {
    workerData: { path, definition, stop },
  });
  // A build does not keep the process from ending; the next one goes on.
  worker.unref();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    await once(worker, "exit");
  } finally {
    signal.removeEventListener("abort", end);
  }
}
