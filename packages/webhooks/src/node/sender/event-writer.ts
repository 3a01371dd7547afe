import { WebhookUsageError } from "../../errors.ts";
import type { SenderDocument, SenderStore, SenderTransaction } from "./document-store.ts";
import { wantsEvent } from "./event-filter.ts";
import { type DeliveryRecord, type EndpointRecord, type EventRecord } from "./records.ts";
import { senderCollections } from "./sender-collections.ts";

/** An event, ready to be stored. */
export interface PreparedEvent extends EventRecord {
  readonly id: string;
  readonly action: string | undefined;
}

/** Result of sending an event. */
export interface SentEvent {
  readonly id: string;
  /** Number of endpoints that it is sent to. */
  readonly deliveries: number;
  /** Whether an event with this identifier was stored before; then nothing was stored now. */
  readonly isDuplicate: boolean;
}

/** The result, with the endpoints that the event is sent to. */
export interface WrittenEvent extends SentEvent {
  readonly endpointIds: readonly string[];
}

type StoredEndpoint = EndpointRecord & SenderDocument;

interface WaitingEvent {
  readonly event: PreparedEvent;
  readonly resolve: (sent: WrittenEvent) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of events of one transaction, so that other changes of the store get their turn. */
const batchSize = 64;

/**
 * Stores events and their deliveries. Events that come while a transaction runs share the next one, and with it one wait
 * for the disk.
 */
export class EventWriter {
  readonly #store: SenderStore;
  readonly #giveUpAfter: number;
  readonly #waiting: WaitingEvent[];
  #isWriting: boolean;

  constructor(store: SenderStore, giveUpAfter: number) {
    this.#store = store;
    this.#giveUpAfter = giveUpAfter;
    this.#waiting = [];
    this.#isWriting = false;
  }

  /** Resolves when the event and its deliveries are durable. */
  write(event: PreparedEvent): Promise<WrittenEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      if (!this.#isWriting) void this.#drain();
    });
  }

  /** Stores an event as a part of the caller's transaction. */
  async writeIn(transaction: SenderTransaction, event: PreparedEvent): Promise<WrittenEvent> {
    return this.#storeEvent(transaction, await enabledEndpoints(transaction), event);
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

  #writeAll(events: readonly PreparedEvent[]): Promise<readonly WrittenEvent[]> {
    return this.#store.transaction(async (transaction) => {
      const endpoints = await enabledEndpoints(transaction);
      const sent: WrittenEvent[] = [];
      for (const event of events) sent.push(await this.#storeEvent(transaction, endpoints, event));
      return sent;
    });
  }

  async #storeEvent(
    transaction: SenderTransaction,
    endpoints: readonly StoredEndpoint[],
    { id, name, payload, action }: PreparedEvent,
  ): Promise<WrittenEvent> {
    const events = transaction.collection(senderCollections.events);
    const deliveries = transaction.collection(senderCollections.deliveries);
    const earlier = await events.get(id);
    if (earlier !== undefined) {
      if (earlier.name !== name || earlier.payload !== payload) {
        throw new WebhookUsageError(
          "ERR_WEBHOOKS_ARGUMENT",
          `the id ${id} belongs to another event`,
        );
      }
      const count = await deliveries.count({ where: { eventId: id } });
      return { id, deliveries: count, isDuplicate: true, endpointIds: [] };
    }
    const { createdAt } = await events.insert({ name, payload }, { id });
    const expiresAt = new Date(Date.parse(createdAt) + this.#giveUpAfter).toISOString();
    const records = endpoints
      .filter(({ events: wanted }) => wantsEvent(wanted, { name, action }))
      .map((endpoint): DeliveryRecord => {
        const ids = { eventId: id, eventName: name, endpointId: endpoint.id };
        return { ...ids, status: "pending", dueAt: createdAt, expiresAt, attempts: 0, history: [] };
      });
    if (records.length > 0) await deliveries.insertMany(records);
    const endpointIds = records.map(({ endpointId }) => endpointId);
    return { id, deliveries: records.length, isDuplicate: false, endpointIds };
  }
}

function enabledEndpoints(transaction: SenderTransaction): Promise<readonly StoredEndpoint[]> {
  return transaction.collection(senderCollections.endpoints).find({ where: { status: "enabled" } });
}
