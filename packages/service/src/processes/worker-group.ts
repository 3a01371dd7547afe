import { setTimeout as pause } from "node:timers/promises";
import { StartError } from "../errors.ts";
import type { Log } from "../log/log.ts";
import { startWorker, type WorkerProcess } from "./worker-process.ts";

/** Processes that serve together: ended ones are replaced, and all can be replaced in turn. */
export class WorkerGroup {
  readonly #logs: Pick<Log, "failed" | "noted" | "warned">;
  /** Absent between the end of a process and the start of the next in its place. */
  readonly #places: (WorkerProcess | undefined)[];
  readonly #running = new Set<WorkerProcess>();
  readonly #stopping = new AbortController();
  readonly #started = Promise.withResolvers<void>();
  #restarts = this.#started.promise;
  #isRestartDue = false;

  constructor(count: number, logs: Pick<Log, "failed" | "noted" | "warned">) {
    this.#places = Array.from({ length: count });
    this.#logs = logs;
  }

  /**
   * Starts the first process, and the others when it serves. Resolves when all have ended after
   * {@link stop}, or when the first one has said why it could not start; the exit code is 1 then.
   *
   * @throws StartError when the first process ended and could not say why.
   */
  async run(): Promise<void> {
    const first = (this.#places[0] = this.#start());
    if (!(await first.serves)) {
      if (this.#stopping.signal.aborted) return;
      const end = await first.ended;
      process.exitCode = 1;
      if (end === "exit code 1") return;
      throw new StartError(`the first process ended before it served: ${end}`);
    }
    this.#started.resolve();
    this.#logs.noted(`SIGHUP to process ${process.pid} replaces its ${this.#places.length}`);
    try {
      await Promise.all(this.#places.map((_, place) => this.#keep(place)));
    } finally {
      this.stop();
      await Promise.all([...this.#running].map(({ ended }) => ended));
    }
  }

  /** Stops all processes in order. */
  stop(): void {
    this.#stopping.abort();
    for (const worker of this.#running) worker.stop();
  }

  /** Ends all processes at once. */
  kill(): void {
    for (const worker of this.#running) worker.kill();
  }

  /** Replaces each process by one that serves first. A second request is noted once. */
  restart(): void {
    if (this.#isRestartDue) return;
    this.#isRestartDue = true;
    this.#restarts = this.#restarts.then(() => {
      this.#isRestartDue = false;
      return this.#replaceAll().catch(this.#logs.failed);
    });
  }

  #start(): WorkerProcess {
    const worker = startWorker();
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    return worker;
  }

  /** Runs one process after the other until the group stops. */
  async #keep(place: number): Promise<void> {
    const { signal } = this.#stopping;
    for (let early = 0; !signal.aborted;) {
      const startedAt = performance.now();
      const worker = (this.#places[place] ??= this.#start());
      const end = await worker.ended;
      // A restart has put another one into its place.
      if (this.#places[place] !== worker) continue;
      this.#places[place] = undefined;
      if (signal.aborted) return;
      this.#logs.warned(`process ${worker.pid} ended with ${end}, another one takes its place`);
      early = performance.now() - startedAt < 5_000 ? early + 1 : 0;
      const time = early === 0 ? 0 : Math.min(10_000, 250 * 2 ** early);
      await pause(time, undefined, { signal }).catch(() => undefined);
    }
  }

  async #replaceAll(): Promise<void> {
    const { signal } = this.#stopping;
    for (const place of this.#places.keys()) {
      if (signal.aborted) return;
      const next = this.#start();
      if (!(await next.serves)) {
        if (signal.aborted) return;
        const end = await next.ended;
        this.#logs.warned(`process ${next.pid} ended with ${end} before it served: no restart`);
        return;
      }
      const worker = this.#places[place];
      this.#places[place] = next;
      worker?.stop();
      await worker?.ended;
    }
  }
}
