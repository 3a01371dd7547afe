import type { Store, Transaction } from "@fetchwork/documents";
import type { Jobs } from "@fetchwork/documents/jobs";
import { WebhookUsageError } from "../../../errors.ts";
import { eventJob, eventJobId } from "./event-jobs.ts";
import { FairTurns } from "./fair-turns.ts";
import type { EventRecord } from "../records.ts";
import { senderCollections } from "../sender-collections.ts";

/** An event, ready to be stored. */
export interface PreparedEvent extends EventRecord {
  readonly id: string;
}

/** Result of sending an event. */
export interface SentEvent {
  readonly id: string;
  /** Whether an event with this identifier was stored before; then nothing was stored now. */
  readonly isDuplicate: boolean;
}

interface WaitingEvent {
  readonly event: PreparedEvent;
  /** When it is its turn. */
  readonly turn: number;
  readonly resolve: (sent: SentEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum events of one transaction, so that other changes of the store get their turn. */
const batchSize = 64;

/**
 * Stores events, each with the job that stores its deliveries: what an event costs does not depend
 * on how many endpoints there are. Events that come while a transaction runs share the next one,
 * and with it one wait for the disk.
 */
export class EventWriter {
  readonly #store: Store;
  readonly #jobs: Jobs;
  readonly #turns = new FairTurns();
  readonly #waiting: WaitingEvent[] = [];
  #isWriting = false;

  constructor(store: Store, jobs: Jobs) {
    this.#store = store;
    this.#jobs = jobs;
  }

  /** Resolves when the event and its job are durable. */
  write(event: PreparedEvent): Promise<SentEvent> {
    return new Promise((resolve, reject) => {
      const turn = this.#turns.next(event.tenant);
      this.#waiting.push({ event, turn, resolve, reject });
      if (!this.#isWriting) void this.#drain();
    });
  }

  /** Stores an event and its job as a part of the caller's transaction. */
  async writeIn(
    transaction: Transaction,
    { id, ...event }: PreparedEvent,
    turn: number = this.#turns.next(event.tenant),
  ): Promise<SentEvent> {
    const events = transaction.collection(senderCollections.events);
    const earlier = await events.get(id);
    if (earlier === undefined) {
      await events.insert(event, { id });
      const options = { id: eventJobId(id), turn: new Date(turn), transaction };
      const { key } = event;
      const input = { eventId: id, ...(key !== undefined && { key }) };
      await this.#jobs.add(eventJob, input, options);
      return { id, isDuplicate: false };
    }
    if (isSame(earlier, event)) return { id, isDuplicate: true };
    throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", `the id ${id} belongs to another event`);
  }

  // Never rejects: a failure rejects the promise of its event.
  async #drain(): Promise<void> {
    this.#isWriting = true;
    // Calls of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      this.#waiting.sort((left, right) => left.turn - right.turn);
      const batch = this.#waiting.splice(0, batchSize);
      try {
        const sent = await this.#writeAll(batch);
        for (const [index, { resolve }] of batch.entries()) {
          const one = sent[index];
          if (one !== undefined) resolve(one);
        }
      } catch (error) {
        if (batch.length === 1) batch[0]?.reject(error);
        else await this.#writeEach(batch);
      }
    }
    this.#isWriting = false;
  }

  /** One event must not fail the others of its batch. */
  async #writeEach(batch: readonly WaitingEvent[]): Promise<void> {
    for (const waiting of batch) {
      await this.#writeAll([waiting]).then(([sent]) => {
        if (sent !== undefined) waiting.resolve(sent);
      }, waiting.reject);
    }
  }

  #writeAll(batch: readonly WaitingEvent[]): Promise<readonly SentEvent[]> {
    return this.#store.transaction(async (transaction) => {
      const sent: SentEvent[] = [];
      for (const { event, turn } of batch) {
        sent.push(await this.writeIn(transaction, event, turn));
      }
      return sent;
    });
  }
}

function isSame(left: EventRecord, right: EventRecord): boolean {
  const names = ["name", "payload", "tenant", "key"] as const;
  return names.every((name) => left[name] === right[name]);
}
