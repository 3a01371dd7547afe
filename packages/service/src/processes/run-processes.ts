import { stopOnSignals } from "@fetchwork/http/serve";
import { StartError } from "../errors.ts";
import type { Log } from "../log/log.ts";
import type { StartSettings } from "../settings/start-settings.ts";
import { WorkerGroup } from "./worker-group.ts";

/**
 * Runs this program in several processes on one port, and watches over them until SIGTERM or SIGINT
 * has stopped all. A second signal, at least 500 ms later, ends them at once. SIGHUP replaces one
 * after the other. The exit code is 1 when the first process has said why it could not start.
 *
 * @throws StartError with SQLite, or when the first process ended and could not say why.
 */
export async function runProcesses(
  { databaseUrl, processes }: Pick<StartSettings, "databaseUrl" | "processes">,
  logs: Pick<Log, "failed" | "noted" | "warned">,
): Promise<void> {
  if (/^sqlite:/i.test(databaseUrl)) {
    throw new StartError(
      `PROCESSES is ${processes}, but SQLite has one writer, so one process is right there and serves thousands of requests per second; for more set DATABASE_URL to PostgreSQL`,
    );
  }
  const group = new WorkerGroup(processes, logs);
  // A second signal ends this process, and all that it has started.
  process.once("exit", () => group.kill());
  stopOnSignals(() => group.stop());
  process.on("SIGHUP", () => group.restart());
  return group.run();
}
