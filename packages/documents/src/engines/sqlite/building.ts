import { setTimeout as wait } from "node:timers/promises";
import { touchInterval } from "../derived.ts";
import type { Session } from "./session.ts";
import type { SqliteLayout } from "./statements/layout.ts";
import type { BuildJob } from "./threads/build.ts";

/** Time between two parts of a build, and after one that failed, in milliseconds. */
const pause = 5;
const retryDelay = 1000;

/** Builds what collections need in another thread, until it is done or the signal is aborted. */
export type BuildAway = (job: Omit<BuildJob, "stop">, signal: AbortSignal) => Promise<void>;

/** Derives missing search texts in parts, so that other changes come in between. */
export class Building {
  readonly #write: <R>(work: (session: Session) => R) => Promise<R>;
  readonly #buildAway: BuildAway | undefined;
  readonly #busyTimeout: number;
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #used = new Set<SqliteLayout>();
  #toucher: NodeJS.Timeout | undefined;

  /** `buildAway` builds in another thread, where that can open the file. */
  constructor(
    write: <R>(work: (session: Session) => R) => Promise<R>,
    buildAway: BuildAway | undefined,
    options: { readonly busyTimeout: number },
  ) {
    this.#busyTimeout = options.busyTimeout;
    this.#write = write;
    this.#buildAway = buildAway;
  }

  /** Builds what is missing of a collection, until it is done or the store is closed. */
  start(layout: SqliteLayout): void {
    const building = this.#build(layout).finally(() => this.#running.delete(building));
    this.#running.add(building);
  }

  /**
   * Builds what collections need in another thread, which waits at most `busyTimeout` for other
   * writers. A failure there occurs again in this thread, which reports it.
   */
  async prepareAway(layouts: readonly SqliteLayout[]): Promise<void> {
    const definitions = layouts.map(({ definition }) => definition);
    const job = { task: "prepare", definitions, busyTimeout: this.#busyTimeout } as const;
    await this.#buildAway?.(job, this.#ended.signal).catch(() => undefined);
  }

  /** Notes occasionally that a collection is in use, so that its texts are kept. */
  keep(layout: SqliteLayout): void {
    if (!layout.search.isSearched) return;
    this.#used.add(layout);
    this.#toucher ??= setInterval(() => void this.#touch(), touchInterval).unref();
  }

  /** Waits for what was started, and builds what is missing of collections then. */
  async finish(layouts: readonly SqliteLayout[]): Promise<void> {
    // Builds do not keep the process from ending, but their caller waits for them here.
    const keepsAlive = setInterval(() => undefined, touchInterval);
    try {
      await Promise.all(this.#running);
      for (const layout of layouts) {
        while (await this.#write((session) => session.workOnSearch(layout)));
      }
    } finally {
      clearInterval(keepsAlive);
    }
  }

  /** Ends what is being built; the next process goes on. */
  async close(): Promise<void> {
    this.#ended.abort();
    clearInterval(this.#toucher);
    await Promise.all(this.#running);
  }

  async #build(layout: SqliteLayout): Promise<void> {
    const { signal } = this.#ended;
    const job = { task: "search", definitions: [layout.definition] } as const;
    for (let delay = pause, buildAway = this.#buildAway; !signal.aborted;) {
      try {
        await buildAway?.(job, signal).catch(() => undefined);
        if (!(await this.#write((session) => session.workOnSearch(layout)))) return;
        // The thread left something, because it could not start or failed, and this one does the
        // rest.
        buildAway = undefined;
        delay = pause;
      } catch {
        // Another process writes, or the disk is full: what is missing is read by each search until
        // then.
        delay = retryDelay;
      }
      await wait(delay, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  async #touch(): Promise<void> {
    for (const layout of this.#used) {
      // A failure is met again after the next interval, and a week has many.
      await this.#write((session) => session.touchSearch(layout)).catch(() => undefined);
    }
  }
}
