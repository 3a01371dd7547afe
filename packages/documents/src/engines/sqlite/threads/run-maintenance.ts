import { toDocumentsError } from "../connection/sqlite-error.ts";
import type { MaintenanceTask } from "./maintenance.ts";
import { startThread } from "./start-thread.ts";

/** Does a task on a file in a separate thread. */
export async function runMaintenance(
  path: string,
  task: MaintenanceTask,
): Promise<readonly string[]> {
  const worker = startThread("./maintenance-worker", import.meta.url, { path, task });
  try {
    const problems = await new Promise<unknown>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", (code) => {
        reject(new Error(`the thread ended with ${code} before it was done`));
      });
    });
    return Array.isArray(problems) ? problems.map(String) : [];
  } catch (error) {
    throw toDocumentsError(error);
  } finally {
    await worker.terminate();
  }
}
