import { constants } from "node:os";
import { StartError } from "../errors.ts";
import type { Log } from "../log/log.ts";
import type { StartSettings } from "../settings/start-settings.ts";
import { WorkerGroup } from "./worker-group.ts";

/**
 * Runs this program in several processes that listen on one port, and watches over them until SIGTERM or SIGINT has stopped
 * all. A second signal, at least 500 ms later, ends them at once. SIGHUP replaces one after the other.
 * The exit code is 1 when the first process has said why it could not start.
 *
 * @throws StartError with SQLite, or when the first process ended and could not say why.
 */
export async function runProcesses(
  { databaseUrl, processes }: Pick<StartSettings, "databaseUrl" | "processes">,
  logs: Pick<Log, "failed" | "warned">,
): Promise<void> {
  if (/^sqlite:/i.test(databaseUrl)) {
    throw new StartError(
      `PROCESSES is ${processes}, but SQLite has one writer, so one process is right there and serves thousands of requests per second; for more set DATABASE_URL to PostgreSQL`,
    );
  }
  const group = new WorkerGroup(processes, logs);
  let first: number | undefined;
  const stop = (signal: "SIGTERM" | "SIGINT"): void => {
    if (first === undefined) {
      first = performance.now();
      group.stop();
      // An earlier one counts as the same: npm forwards a signal that the terminal has sent already.
    } else if (performance.now() - first >= 500) {
      group.kill();
      // oxlint-disable-next-line unicorn/no-process-exit -- an operator who stops twice does not want to wait
      process.exit(128 + constants.signals[signal]);
    }
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  process.on("SIGHUP", () => group.restart());
  return group.run();
}
