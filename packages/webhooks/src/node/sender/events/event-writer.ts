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

/** An event has the identifier of an earlier one with another content. */
export class OtherEventError extends WebhookUsageError {}

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
      const input = { eventId: id, ...(event.key !== undefined && { key: event.key }) };
      await this.#jobs.add(eventJob, input, options);
      return { id, isDuplicate: false };
    }
    if (isSame(earlier, event)) return { id, isDuplicate: true };
    throw new OtherEventError("ERR_WEBHOOKS_ARGUMENT", `the id ${id} belongs to another event`);
  }

  // Never rejects: a failure rejects the promise of its event.
  async #drain(): Promise<void> {
    this.#isWriting = true;
    // Calls of the same turn go together.
    await Promise.resolve();
    // One event must not fail the others of its batch: after a failure each is written alone.
    let alone = 0;
    while (this.#waiting.length > 0) {
      this.#waiting.sort((left, right) => left.turn - right.turn);
      const batch = this.#waiting.splice(0, alone > 0 ? 1 : batchSize);
      alone -= 1;
      try {
        const sent = await this.#writeAll(batch);
        for (const [index, one] of sent.entries()) batch[index]?.resolve(one);
      } catch (error) {
        if (batch.length === 1) this.#fail(batch, error);
        else alone = this.#waiting.unshift(...batch);
      }
    }
    this.#isWriting = false;
  }

  /** Rejects an event, and those that wait behind it with its key: none may pass it. */
  #fail([failed]: readonly WaitingEvent[], error: unknown): void {
    failed?.reject(error);
    const key = error instanceof WebhookUsageError ? undefined : failed?.event.key;
    if (key === undefined) return;
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.event.key === key) waiting.reject(error);
      else this.#waiting.push(waiting);
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
