import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The variable with the folder that holds a note of each server of a test run. */
export const serversFolder = "FETCHWORK_TEST_SERVERS";

/** A server that ends with the test run. */
export interface RunningServer {
  /** The folder with its data and its socket. */
  readonly folder: string;
  readonly pid: number;
}

/**
 * Lets the workers of a test run start servers, and stops those when it ends (`globalSetup` of
 * Vitest).
 */
export function setup(): () => void {
  const run = mkdtempSync(join(tmpdir(), "fetchwork-servers-"));
  process.env[serversFolder] = run;
  return () => {
    for (const name of readdirSync(run)) {
      const { folder, pid }: RunningServer = JSON.parse(readFileSync(join(run, name), "utf8"));
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended before.
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
    rmSync(run, { recursive: true, force: true });
  };
}
