import { setTimeout as wait } from "node:timers/promises";
import { DocumentsError } from "../../api/errors.ts";

const retryDelay = 100;

/** Whether another process writes, so that nothing was done. */
export function isBusyError(error: unknown): boolean {
  return error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_BUSY";
}

/** Repeats work while another process writes, up to a number of milliseconds. */
export async function untilFree<R>(timeout: number, work: () => Promise<R>): Promise<R> {
  const deadline = performance.now() + timeout;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusyError(error) || performance.now() > deadline) throw error;
    }
    await wait(retryDelay);
  }
}
