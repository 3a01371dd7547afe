import { setTimeout as pause } from "node:timers/promises";

/** In milliseconds. */
const maxTime = 1000;
const interval = 20;
const busy: ReadonlySet<unknown> = new Set(["EACCES", "EBUSY", "EPERM"]);

/**
 * Changes a file. On Windows it tries again for a second where the file is open elsewhere: in a
 * reader, or in a program that looks for viruses.
 */
export async function retryBusy<T>(
  change: () => Promise<T>,
  platform: NodeJS.Platform = process.platform,
): Promise<T> {
  for (let tried = 0; ; tried += interval) {
    try {
      return await change();
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && busy.has(error.code);
      if (platform !== "win32" || !isBusy || tried >= maxTime) throw error;
    }
    await pause(interval);
  }
}
