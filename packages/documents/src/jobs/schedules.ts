import { Cron } from "croner";
import type { Collection } from "../api/collection.ts";
import { optionError } from "../api/errors.ts";
import type { Store } from "../api/store.ts";
import { checkOptions } from "../api/check-options.ts";
import { addJob, checkInput } from "./add-job.ts";
import type { JobDefinition } from "./define-job.ts";
import { jobCollections, type ScheduleRecord } from "./job-record.ts";

/** Options of `schedule`. */
export interface ScheduleOptions<Input> {
  /**
   * The times: minute, hour, day of the month, month and day of the week, as cron has them; six
   * fields begin with the second.
   */
  readonly cron: string;
  /** The time zone of the times, such as `Europe/Berlin`. Default: `"UTC"`. */
  readonly timeZone?: string | undefined;
  /** The input of each job. */
  readonly input: Input;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
/** A clock that is put forward is noticed after this many milliseconds. */
const maxWait = 60_000;
/** Milliseconds after which a time is tried again that could not be queued. */
const retryWait = 2000;
/** A last time that is as far ahead, in milliseconds, is of a clock that was wrong. */
const maxAhead = 86_400_000;

/** The schedules that this process queues jobs for. */
export class Schedules {
  readonly #store: Store;
  readonly #onError: (error: unknown) => void;
  readonly #onAdded: (job: string) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #queueing = new Set<Promise<void>>();
  #isStopped = false;

  constructor(
    store: Store,
    on: { readonly error: (error: unknown) => void; readonly added: (job: string) => void },
  ) {
    this.#store = store;
    this.#onError = on.error;
    this.#onAdded = on.added;
  }

  /** Sets a schedule, and queues its jobs as long as this process runs. */
  async set<Input, Parsed>(
    name: string,
    definition: JobDefinition<Input, Parsed>,
    options: ScheduleOptions<Input>,
  ): Promise<void> {
    checkOptions("schedule", options, ["cron", "timeZone", "input"]);
    const { cron, timeZone = "UTC", input } = options;
    if (!namePattern.test(name)) {
      throw optionError('the name of a schedule must be 1 to 64 letters, digits, "_", "." or "-"');
    }
    const times = parseCron(cron, timeZone);
    await checkInput(definition, input);
    const lastAt = new Date().toISOString();
    const latest = new Date(Date.now() + maxAhead).toISOString();
    const wanted = { job: definition.name, cron, timeZone };
    await this.#schedules.upsert(
      { ...wanted, lastAt },
      {
        id: name,
        // Missed times are queued, unless the schedule has other ones now.
        change: (stored) => {
          const isSame = stored.cron === cron && stored.timeZone === timeZone;
          return { ...wanted, lastAt: isSame && stored.lastAt < latest ? stored.lastAt : lastAt };
        },
      },
    );
    const queue = (at: Date): Promise<boolean> =>
      this.#queue(at, { name, wanted }, (transaction) =>
        addJob(this.#store, definition, input, {
          transaction,
          id: `${name}@${at.toISOString()}`,
        }),
      );
    clearTimeout(this.#timers.get(name));
    await this.#tick(name, times, queue);
  }

  /** Removes a schedule, for every process; resolves to whether there was one. */
  async remove(name: string): Promise<boolean> {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
    return this.#schedules.remove(name);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#queueing);
  }

  get #schedules(): Collection<ScheduleRecord> {
    return this.#store.collection(jobCollections.schedules);
  }

  /** Queues the job of the last time, unless that was done, and waits for the next time. */
  async #tick(name: string, times: Cron, queue: (at: Date) => Promise<boolean>): Promise<void> {
    if (this.#isStopped) return;
    const now = Date.now();
    // The last time up to now, this millisecond included.
    const [last] = times.previousRuns(1, new Date(now + 1));
    const isSet = last === undefined || (await queue(last));
    if (!isSet || this.#isStopped) return;
    const next = times.nextRun(new Date())?.getTime() ?? Infinity;
    const wait = Math.min(maxWait, Math.max(1, next - Date.now()));
    this.#tickIn(wait, name, () => this.#tick(name, times, queue));
  }

  #tickIn(wait: number, name: string, tick: () => Promise<void>): void {
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      const ticking = tick().catch((error: unknown) => {
        this.#onError(error);
        this.#tickIn(retryWait, name, tick);
      });
      this.#queueing.add(ticking);
      void ticking.finally(() => this.#queueing.delete(ticking));
    }, wait);
    this.#timers.set(name, timer);
  }

  /** Resolves to whether the schedule is still set as this process knows it. */
  async #queue(
    at: Date,
    { name, wanted }: { readonly name: string; readonly wanted: Omit<ScheduleRecord, "lastAt"> },
    add: (transaction: Parameters<Parameters<Store["transaction"]>[0]>[0]) => Promise<string>,
  ): Promise<boolean> {
    const outcome = await this.#store.transaction(async (transaction) => {
      const schedules = transaction.collection(jobCollections.schedules);
      const stored = await schedules.get(name);
      const { job, cron, timeZone } = wanted;
      const isOurs = stored?.job === job && stored.cron === cron && stored.timeZone === timeZone;
      if (!isOurs) return "gone";
      const lastAt = at.toISOString();
      if (stored.lastAt >= lastAt) return "known";
      await schedules.update(name, { lastAt });
      await add(transaction);
      return "added";
    });
    if (outcome === "added") this.#onAdded(wanted.job);
    return outcome !== "gone";
  }
}

function parseCron(cron: string, timeZone: string): Cron {
  try {
    const times = new Cron(cron, { timezone: timeZone, mode: "5-or-6-parts" });
    // An unknown time zone is only noticed here.
    if (times.nextRun() !== null) return times;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw optionError(`the times ${JSON.stringify(cron)} in ${timeZone} are invalid: ${reason}`);
  }
  throw optionError(`the times ${JSON.stringify(cron)} never come`);
}
