import type { Store, Transaction } from "@fetchwork/documents";
import type { Jobs } from "@fetchwork/documents/jobs";
import { WebhookUsageError } from "../../errors.ts";
import { eventJob, eventJobId } from "./event-jobs.ts";
import type { EventRecord } from "./records.ts";
import { senderCollections } from "./sender-collections.ts";

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
  readonly resolve: (sent: SentEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of events of one transaction, so that other changes of the store get their turn. */
const batchSize = 64;

/**
 * Stores events, each with the job that stores its deliveries: what an event costs does not depend on how many endpoints
 * there are. Events that come while a transaction runs share the next one, and with it one wait for the disk.
 */
export class EventWriter {
  readonly #store: Store;
  readonly #jobs: Jobs;
  readonly #waiting: WaitingEvent[];
  #isWriting: boolean;

  constructor(store: Store, jobs: Jobs) {
    this.#store = store;
    this.#jobs = jobs;
    this.#waiting = [];
    this.#isWriting = false;
  }

  /** Resolves when the event and its job are durable. */
  write(event: PreparedEvent): Promise<SentEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isWriting) void this.#drain();
    });
  }

  /** Stores an event and its job as a part of the caller's transaction. */
  async writeIn(
    transaction: Transaction,
    { id, name, payload }: PreparedEvent,
  ): Promise<SentEvent> {
    const events = transaction.collection(senderCollections.events);
    const earlier = await events.get(id);
    if (earlier === undefined) {
      await events.insert({ name, payload }, { id });
      await this.#jobs.add(eventJob, { eventId: id }, { id: eventJobId(id), transaction });
      return { id, isDuplicate: false };
    }
    if (earlier.name === name && earlier.payload === payload) return { id, isDuplicate: true };
    throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", `the id ${id} belongs to another event`);
  }

  // Never rejects: a failure rejects the promise of its event.
  async #drain(): Promise<void> {
    this.#isWriting = true;
    // Calls of the same turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize);
      try {
        const sent = await this.#writeAll(batch.map(({ event }) => event));
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
    for (const { event, resolve, reject } of batch) {
      await this.#writeAll([event]).then(([sent]) => {
        if (sent !== undefined) resolve(sent);
      }, reject);
    }
  }

  #writeAll(events: readonly PreparedEvent[]): Promise<readonly SentEvent[]> {
    return this.#store.transaction(async (transaction) => {
      const sent: SentEvent[] = [];
      for (const event of events) sent.push(await this.writeIn(transaction, event));
      return sent;
    });
  }
}
