import cluster, { type Worker } from "node:cluster";

/** A process that serves, as the primary process sees it. */
export interface WorkerProcess {
  /** Absent when the system could not start it. */
  readonly pid: number | undefined;
  /** Resolves when it serves, or has ended without that. */
  readonly serves: Promise<boolean>;
  /** Resolves when it has ended, to how: `SIGKILL`, `exit code 1` or why it could not start. */
  readonly ended: Promise<string>;
  /** Stops it in order. After 25 seconds it is killed: supervisors often wait only 30. */
  stop(): void;
  kill(): void;
}

/** Message of a worker that serves; Node's own event also comes for other servers of it. */
const servingMessage = "fetchwork:serving";

/** Starts a process that runs the program of this one, with the same arguments. */
export function startWorker(): WorkerProcess {
  const worker = cluster.fork();
  const { pid } = worker.process;
  const ended = new Promise<string>((resolve) => {
    worker.once("exit", (code: number, signal: string | null) => {
      resolve(signal ?? `exit code ${code}`);
    });
    // With a process, it is about a message that was not sent, and the end of the process follows.
    worker.on("error", (error) => pid === undefined && resolve(error.message));
  });
  const serves = new Promise<boolean>((resolve) => {
    worker.on("message", (message) => message === servingMessage && resolve(true));
    void ended.then(() => resolve(false));
  });
  const kill = (): void => void worker.process.kill("SIGKILL");
  let isStopping = false;
  return {
    pid,
    serves,
    ended,
    stop() {
      // A second signal would end it at once.
      if (isStopping) return;
      isStopping = true;
      worker.process.kill("SIGTERM");
      const timer = setTimeout(kill, 25_000);
      void ended.then(() => clearTimeout(timer));
    },
    kill,
  };
}

/** Tells the primary process that this worker serves. When that is gone, `stop` is called. */
export function joinPrimary(worker: Worker, stop: () => void): void {
  worker.once("disconnect", () => {
    worker.exitedAfterDisconnect = true;
    stop();
  });
  // For the primary process only, also where the whole group gets it.
  process.on("SIGHUP", () => undefined);
  if (worker.isConnected()) worker.send(servingMessage);
}
