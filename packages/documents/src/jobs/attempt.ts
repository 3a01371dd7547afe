import type { Lease } from "../api/lease.ts";
import { DocumentsError, hasCode, VersionError } from "../api/errors.ts";
import type { Store } from "../api/store.ts";
import type { Transaction } from "../api/transaction.ts";
import { checkInput } from "./add-job.ts";
import type { JobDefinition } from "./define-job.ts";
import { jobCollections, type JobRecord, tablesOf, timeText } from "./job-record.ts";
import { type Outcome, settle } from "./settle.ts";

/** Knowledge of a handler about its job, and actions on it. */
export interface JobRun {
  /** The id of the job: the same in each attempt. */
  readonly id: string;
  /** 1 at first, one more with each further attempt. */
  readonly attempt: number;
  /**
   * Aborts after `timeout`, when the job is cancelled, and when the worker stops. It also aborts
   * when another process may have taken the job over because this one stood still. The job is no
   * longer this attempt's then: it must end, and change nothing more.
   */
  readonly signal: AbortSignal;
  /**
   * Ends the job together with changes of the store, in one transaction: either the changes are
   * there and the job is done, or neither, and the job is tried again. The function returns the
   * result of the job; it may run more than once, as in `store.transaction`. Later results and
   * errors of the handler change nothing.
   *
   * @throws {DocumentsError} `ERR_DOCUMENTS_CANCELLED`, `ERR_DOCUMENTS_LEASE` or
   *   `ERR_DOCUMENTS_TIMEOUT` when the job is no longer this attempt's.
   */
  complete<R>(effect: (transaction: Transaction) => Promise<R> | R): Promise<R>;
}

/** Does a job; resolves to its result, which is stored as JSON. */
export type JobHandler<Parsed> = (input: Parsed, run: JobRun) => unknown;

/** How an attempt ended, as far as it has to be written yet. */
export type AttemptEnd = Outcome | { readonly kind: "completed" } | { readonly kind: "released" };

/** Codes and words of the reasons for which an attempt is aborted. */
const aborts = {
  cancelled: ["ERR_DOCUMENTS_CANCELLED", "was cancelled"],
  lost: [
    "ERR_DOCUMENTS_LEASE",
    "may be another process's now: this one stood still, or could not reach the store",
  ],
  stopped: ["ERR_DOCUMENTS_CLOSED", "is put back: its worker stops"],
  timeout: ["ERR_DOCUMENTS_TIMEOUT", "took longer than its timeout"],
} as const;

type AbortKind = keyof typeof aborts;

const maxTimer = 0x7fff_ffff;

/** One attempt of a job, which this process has the lease of. */
export class Attempt<Input, Parsed> {
  readonly id: string;
  readonly attempt: number;
  readonly startedAt: number = Date.now();
  /** Has the job as this attempt wrote it. Another stored version means it was cancelled. */
  lease: Lease<JobRecord>;
  readonly #store: Store;
  readonly #definition: JobDefinition<Input, Parsed>;
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  readonly #aborted: Promise<AbortKind>;
  #abort: (kind: AbortKind) => void = () => undefined;
  #abortKind: AbortKind | undefined;
  /** The last write of this attempt: they run one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  #isCompleted = false;
  #isMarked = false;

  constructor(store: Store, definition: JobDefinition<Input, Parsed>, lease: Lease<JobRecord>) {
    const { document } = lease;
    this.id = document.id;
    this.attempt = (document.failures ?? 0) + lease.attempt;
    this.lease = lease;
    this.#store = store;
    this.#definition = definition;
    this.#aborted = new Promise((resolve) => {
      this.#abort = resolve;
    });
  }

  /** Aborts when the lease was lost, after which nothing may be written. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Runs the handler until it ends or the attempt is aborted, the first of both. Never rejects. */
  async run(handler: JobHandler<Parsed>): Promise<AttemptEnd> {
    const { timeout } = this.#definition.options;
    const timer = timeout > maxTimer ? undefined : setTimeout(() => this.abort("timeout"), timeout);
    try {
      const ended = await Promise.race([this.#handle(handler), this.#aborted]);
      // A completion that is being written decides.
      await this.#writing;
      if (this.#isCompleted) return { kind: "completed" };
      return typeof ended === "string" ? this.#endOf(ended) : ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the attempt for a reason from outside; only the first one counts. */
  abort(kind: AbortKind): void {
    if (this.#abortKind !== undefined) return;
    this.#abortKind = kind;
    this.#controller.abort(this.#abortError(kind));
    this.#abort(kind);
  }

  /** Ends the attempt because its lease is over, even if it was aborted before. */
  lose(): void {
    this.#lost.abort();
    this.abort("lost");
  }

  #complete<R>(effect: (transaction: Transaction) => Promise<R> | R): Promise<R> {
    return this.#write(async () => {
      this.#checkOpen();
      try {
        const result = await this.#store.transaction((transaction) =>
          this.#completeIn(transaction, effect),
        );
        this.#isCompleted = true;
        return result;
      } catch (error) {
        throw this.#asCancelled(error);
      }
    });
  }

  /** Shows that the job runs, once. */
  markRunning(): Promise<void> {
    if (this.#isMarked) return Promise.resolve();
    this.#isMarked = true;
    return this.#write(async () => {
      if (this.#isOver()) return;
      const { jobs } = tablesOf(this.#store);
      const { token: lease, document: ifVersion } = this.lease;
      const change = { state: "running", startedAt: timeText(this.startedAt) } as const;
      const changed = await jobs.update(this.id, change, { lease, ifVersion });
      if (changed !== undefined) this.lease = { ...this.lease, document: changed };
    }).catch((error: unknown) => {
      const reason = this.#asCancelled(error);
      if (!this.#isOver()) throw reason;
    });
  }

  async #handle(handler: JobHandler<Parsed>): Promise<AttemptEnd> {
    const { retryIf } = this.#definition.options;
    try {
      const { document } = this.lease;
      if (document.cancelRequested === true) return { kind: "cancelled" };
      const input = await checkInput(this.#definition, document.input);
      return { kind: "done", result: await handler(input, this.#shown()) };
    } catch (error) {
      let isFinal = false;
      try {
        isFinal = retryIf !== undefined && !retryIf(error);
      } catch {
        // It cannot decide, so the default applies.
      }
      return { kind: "failed", error, isFinal };
    }
  }

  /** Argument of the handler. Handlers destructure it: no function may use `this`. */
  #shown(): JobRun {
    return {
      id: this.id,
      attempt: this.attempt,
      signal: this.#controller.signal,
      complete: (effect) => this.#complete(effect),
    };
  }

  #endOf(kind: AbortKind): AttemptEnd {
    if (kind === "cancelled") return { kind: "cancelled" };
    if (kind !== "timeout") return { kind: "released" };
    return { kind: "failed", error: this.#abortError(kind), isFinal: false };
  }

  async #completeIn<R>(
    transaction: Transaction,
    effect: (transaction: Transaction) => Promise<R> | R,
  ): Promise<R> {
    const tables = tablesOf(transaction);
    const current = await tables.jobs.get(this.id);
    if (current !== undefined && current.version !== this.lease.document.version) {
      throw new VersionError(tables.jobs.name, {
        current: current.version,
        expected: this.lease.document.version,
      });
    }
    const result = await effect(transaction);
    const { lease, startedAt } = this;
    await settle(
      tables,
      { lease, startedAt, outcome: { kind: "done", result } },
      this.#definition.options,
    );
    return result;
  }

  /** Only the attempt that has the lease changes a job, except for requests to cancel it. */
  #asCancelled(error: unknown): unknown {
    if (hasCode(error, "ERR_DOCUMENTS_LEASE")) this.lose();
    if (!(error instanceof VersionError) || error.collection !== jobCollections.jobs.name)
      return error;
    this.abort("cancelled");
    return this.#abortError("cancelled");
  }

  #write<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => undefined);
    return done;
  }

  #isOver(): boolean {
    return this.#abortKind !== undefined || this.#isCompleted;
  }

  #checkOpen(): void {
    if (this.#abortKind !== undefined) throw this.#abortError(this.#abortKind);
    if (!this.#isCompleted) return;
    throw new DocumentsError("ERR_DOCUMENTS_LEASE", `the job "${this.id}" is done already`);
  }

  #abortError(kind: AbortKind): DocumentsError {
    const { name } = this.#definition;
    const [code, reason] = aborts[kind];
    return new DocumentsError(code, `the job "${this.id}" (${name}) ${reason}`);
  }
}
