import { AsyncLocalStorage } from "node:async_hooks";
import type { Lease } from "../api/lease.ts";
import { DocumentsError, hasCode, VersionError } from "../api/errors.ts";
import type { Store } from "../api/store.ts";
import { Attempt, type AttemptEnd, type JobHandler } from "./attempt.ts";
import type { JobDefinition } from "./define-job.ts";
import type { Finisher } from "./finisher.ts";
import { type JobRecord, linePrefix, placeFrom, tablesOf, timeText } from "./job-record.ts";
import type { Outcome } from "./settle.ts";

/** A job that failed. */
export interface JobFailure {
  /** The name of its kind. */
  readonly job: string;
  readonly id: string;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  /** Whether it is not tried again. */
  readonly isDead: boolean;
}

/** State that a worker shares with the other workers of its queue. */
export interface WorkerContext {
  readonly store: Store;
  readonly finisher: Finisher;
  /** Milliseconds between two looks for jobs that other processes queued. */
  readonly pollInterval: number;
  /** Milliseconds after which another process may take over a job whose process stopped. */
  readonly lease: number;
  readonly onError: (error: unknown, failure?: JobFailure) => void;
  /** Called when a job of a key may have let the next one begin. */
  readonly onEnded: (job: string) => void;
}

/** Options of `stop`. */
export interface StopJobsOptions {
  /** Milliseconds for running jobs to end, before abort and requeue. Default: `5_000`. */
  readonly grace?: number | undefined;
}

/** Milliseconds of short jobs claimed ahead, so that they share waits for the disk. */
const aheadTime = 50;
const maxAhead = 200;
/** Weight of the last attempt in the mean duration. */
const recent = 0.1;
/** Number of lost claims after which a job is taken for the cause of its processes' deaths. */
const maxAbandoned = 20;
const maxPromoted = 100;
const maxPulse = 1000;
const defaultGrace = 5000;
/** When to look after a job was queued in a transaction, whose end nobody reports. */
const nudges = [2, 10, 50, 150];
const maxTimer = 0x7fff_ffff;

/** Runs the jobs of one kind. Any number of workers, in any number of processes, share them. */
export class Worker<Input, Parsed> {
  readonly #context: WorkerContext;
  readonly #definition: JobDefinition<Input, Parsed>;
  readonly #handler: JobHandler<Parsed>;
  /** The attempts whose ends are not written yet. */
  readonly #held = new Map<string, Held<Input, Parsed>>();
  /** Runs what it is given where the worker was made. */
  readonly #fromOutside: <R>(work: () => R) => R = AsyncLocalStorage.snapshot();
  /** How many handlers run. */
  #running = 0;
  /** Claimed, and not begun. */
  #ahead: { readonly lease: Lease<JobRecord>; readonly claimedAt: number }[] = [];
  #meanDuration = Infinity;
  #isStopped = false;
  #looking: Promise<void> | undefined;
  /** Whether jobs were queued since the last look began. */
  #isWoken = true;
  #timer: NodeJS.Timeout | undefined;
  #pulse: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(
    context: WorkerContext,
    definition: JobDefinition<Input, Parsed>,
    handler: JobHandler<Parsed>,
  ) {
    this.#context = context;
    this.#definition = definition;
    this.#handler = handler;
    this.#look();
  }

  /** Looks for jobs now, as part of no transaction of the caller. */
  wake(): void {
    this.#isWoken = true;
    this.#fromOutside(() => this.#look());
  }

  /** Looks for jobs a few times soon. */
  nudge(): void {
    for (const delay of nudges) setTimeout(() => this.wake(), delay).unref();
  }

  /** Cancels a job that runs here. */
  cancel(id: string): void {
    this.#held.get(id)?.attempt.abort("cancelled");
  }

  /** Begins nothing more and waits a time for running jobs; resolves when none is ours. */
  async stop({ grace = defaultGrace }: StopJobsOptions = {}): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await this.#putBack(this.#ahead.splice(0));
    const abort = (): void => {
      for (const { attempt } of this.#held.values()) attempt.abort("stopped");
    };
    const timer = grace > maxTimer ? undefined : setTimeout(abort, grace);
    await Promise.all(Array.from(this.#held.values(), ({ ended }) => ended));
    clearTimeout(timer);
    clearInterval(this.#pulse);
    await this.#beating;
  }

  /** Begins what can begin; never two looks at a time. */
  #look(): void {
    this.#start();
    if (this.#isStopped || this.#looking !== undefined) return;
    clearTimeout(this.#timer);
    this.#looking = this.#takeDue()
      .catch((error: unknown) => {
        this.#report(error);
        return this.#context.pollInterval;
      })
      .then((delay) => {
        this.#looking = undefined;
        this.#start();
        if (this.#isStopped) return;
        if (this.#isWoken && this.#room() > 0) this.#look();
        else this.#timer = setTimeout(() => this.#look(), delay);
      });
  }

  /** How many more jobs may be claimed. */
  #room(): number {
    const { concurrency } = this.#definition.options;
    const claimed = this.#running + this.#ahead.length;
    const ahead = Math.min(maxAhead, Math.floor((concurrency * aheadTime) / this.#meanDuration));
    const room = concurrency + ahead - claimed;
    // Not one by one: the next claim waits until half of what is ahead has begun.
    return this.#ahead.length > ahead / 2 ? 0 : Math.max(0, room);
  }

  /** Claims due jobs; resolves to the milliseconds until the next look, unless it is woken. */
  async #takeDue(): Promise<number> {
    const { store, pollInterval, lease: expiry } = this.#context;
    const { jobs } = tablesOf(store);
    const room = Math.min(this.#room(), 1000);
    const wasWoken = this.#isWoken;
    this.#isWoken = false;
    const prefix = linePrefix("waiting", this.#definition.name);
    const where = { line: { prefix } };
    const [wait, found] = await Promise.all([
      this.#promote(),
      wasWoken || room === 0 ? [] : jobs.find({ where, sort: ["line"], limit: 1, fields: ["job"] }),
    ]);
    if (room === 0) {
      this.#isWoken ||= wasWoken;
      return wait;
    }
    if (wasWoken || found.length > 0) {
      const claimedAt = performance.now();
      const leases = await jobs.claim({ where, sort: ["line"], limit: room, expiry });
      this.#ahead.push(...leases.map((lease) => ({ lease, claimedAt })));
      // There are probably more.
      if (leases.length === room) this.#isWoken = true;
    }
    return Math.min(wait, pollInterval);
  }

  /** Releases due delayed jobs; resolves to milliseconds until the next, at most a poll. */
  async #promote(): Promise<number> {
    const { store, pollInterval } = this.#context;
    const { name } = this.#definition;
    const { jobs } = tablesOf(store);
    const where = { line: { prefix: linePrefix("delayed", name) } };
    const delayed = await jobs.find({ where, sort: ["line"], limit: maxPromoted });
    const now = Date.now();
    const due = delayed.filter(({ dueAt = "" }) => dueAt <= timeText(now));
    await Promise.all(
      due.map(async (record) => {
        const change = placeFrom(name, record.dueAt, now);
        await jobs.update(record.id, change, { ifVersion: record }).catch((error: unknown) => {
          // Another process was faster, or it was cancelled.
          if (!(error instanceof VersionError)) throw error;
        });
      }),
    );
    if (due.length > 0) this.#isWoken = true;
    const next = delayed[due.length]?.dueAt;
    if (next === undefined) return pollInterval;
    return Math.min(pollInterval, Math.max(1, Date.parse(next) - now));
  }

  /** Begins what was claimed. */
  #start(): void {
    if (this.#isStopped) return;
    const { concurrency } = this.#definition.options;
    while (this.#running < concurrency && this.#held.size < concurrency + maxAhead) {
      const claimed = this.#ahead.shift();
      if (claimed === undefined) return;
      const { lease, claimedAt } = claimed;
      const heldUntil = claimedAt + this.#context.lease;
      // A process that stood still has lost what it claimed.
      if (performance.now() >= heldUntil) continue;
      const attempt = new Attempt(this.#context.store, this.#definition, lease);
      const begun = performance.now();
      this.#running += 1;
      const held: Held<Input, Parsed> = {
        attempt,
        begun,
        heldUntil,
        // It begins after the map has it.
        ended: Promise.resolve().then(() => this.#run(attempt)),
      };
      this.#held.set(attempt.id, held);
      this.#pulse ??= setInterval(() => this.#beat(), Math.min(maxPulse, this.#context.lease / 4));
    }
  }

  /** Runs a job and writes how it ended. Never rejects. */
  async #run(attempt: Attempt<Input, Parsed>): Promise<void> {
    const begun = performance.now();
    const { key, failures = 0 } = attempt.lease.document;
    const end: AttemptEnd =
      attempt.attempt - failures > maxAbandoned
        ? { kind: "failed", error: abandonedError(attempt.id), isFinal: true }
        : await attempt.run(this.#handler);
    this.#learn(performance.now() - begun);
    this.#running -= 1;
    const written = this.#end(attempt, end);
    this.#look();
    await written;
    this.#held.delete(attempt.id);
    if (key !== undefined) this.#context.onEnded(this.#definition.name);
    this.#look();
  }

  #learn(duration: number): void {
    const shown = Math.max(0.01, duration);
    this.#meanDuration =
      this.#meanDuration === Infinity
        ? shown
        : this.#meanDuration + recent * (shown - this.#meanDuration);
  }

  /** Writes how an attempt ended; a failure is reported and the job runs again later. */
  async #end(attempt: Attempt<Input, Parsed>, end: AttemptEnd): Promise<void> {
    if (end.kind === "completed" || attempt.lost.aborted) return;
    if (end.kind === "released") return this.#putBack([{ lease: attempt.lease }]);
    try {
      await this.#write(attempt, end);
    } catch (error) {
      // Its result cannot be stored.
      await this.#write(attempt, { kind: "failed", error, isFinal: false }).catch(
        (failure: unknown) => this.#report(failure),
      );
    }
  }

  async #write(attempt: Attempt<Input, Parsed>, outcome: Outcome): Promise<void> {
    const { options } = this.#definition;
    const { lease, startedAt } = attempt;
    const written = await this.#context.finisher.finish(
      { lease, startedAt, outcome },
      options,
      attempt.lost,
    );
    if (outcome.kind !== "failed" || written === "lost") return;
    const failures = (lease.document.failures ?? 0) + 1;
    const isDead = outcome.isFinal || failures > options.retries;
    this.#report(outcome.error, attempt, isDead);
    // The pause before the next attempt may be short.
    this.#isWoken = true;
  }

  /** Gives up leases of jobs that were not begun, or not ended. */
  async #putBack(claims: readonly { readonly lease: Lease<JobRecord> }[]): Promise<void> {
    const { jobs } = tablesOf(this.#context.store);
    const released = await Promise.allSettled(claims.map(({ lease }) => jobs.release(lease)));
    for (const each of released) if (each.status === "rejected") this.#report(each.reason);
  }

  /** Renews leases, notices what was cancelled or lost, and shows long jobs as running. */
  #beat(): void {
    const now = performance.now();
    const { lease } = this.#context;
    for (const held of this.#held.values()) if (now >= held.heldUntil) held.attempt.lose();
    if (this.#held.size === 0 && this.#ahead.length === 0) {
      clearInterval(this.#pulse);
      this.#pulse = undefined;
      return;
    }
    const waiting = this.#ahead.filter(({ claimedAt }) => now - claimedAt > lease / 3);
    this.#ahead = this.#ahead.filter((each) => !waiting.includes(each));
    this.#beating ??= Promise.all([this.#keep(now), this.#putBack(waiting)])
      .catch((error: unknown) => this.#report(error))
      .then(() => {
        this.#beating = undefined;
      });
  }

  async #keep(now: number): Promise<void> {
    const { store, lease } = this.#context;
    const { jobs } = tablesOf(store);
    const long = [...this.#held.values()].filter(({ begun }) => now - begun >= maxPulse / 2);
    if (long.length === 0) return;
    const records = await jobs.getMany(long.map(({ attempt }) => attempt.id));
    await Promise.all(
      long.map(async (held, index) => {
        const { attempt } = held;
        const record = records[index];
        if (record === undefined) attempt.lose();
        if (record?.cancelRequested === true) attempt.abort("cancelled");
        await attempt.markRunning();
        const left = held.heldUntil - performance.now();
        if (left > (lease * 2) / 3 || attempt.lost.aborted) return;
        const sentAt = performance.now();
        if (await jobs.renew(attempt.lease, lease)) held.heldUntil = sentAt + lease;
        // A job that ended in between was released.
        else if (this.#held.has(attempt.id)) attempt.lose();
      }),
    );
  }

  #report(error: unknown, attempt?: Attempt<Input, Parsed>, isDead = false): void {
    if (hasCode(error, "ERR_DOCUMENTS_CLOSED")) {
      // A store that is closed stays so.
      this.#isStopped = true;
      clearTimeout(this.#timer);
      return;
    }
    const { onError } = this.#context;
    const { name } = this.#definition;
    if (attempt === undefined) onError(error);
    else onError(error, { job: name, id: attempt.id, attempt: attempt.attempt, isDead });
  }
}

interface Held<Input, Parsed> {
  readonly attempt: Attempt<Input, Parsed>;
  readonly begun: number;
  /** When the lease is over, unless it is renewed. */
  heldUntil: number;
  readonly ended: Promise<void>;
}

function abandonedError(id: string): DocumentsError {
  return new DocumentsError(
    "ERR_DOCUMENTS_LEASE",
    `the job "${id}" was begun ${maxAbandoned} times by processes that ended before it did`,
  );
}
