import type { SignatureKey } from "../../signature-scheme.ts";
import { attemptDelivery, type AttemptOptions } from "./attempt-delivery.ts";
import type { SenderDocument, SenderDocuments } from "./document-store.ts";
import type { EndpointRecord, EventRecord } from "./records.ts";
import {
  type AttemptReport,
  type ClaimedDelivery,
  giveUp,
  isVersionConflict,
  settleDelivery,
  type SettleParts,
} from "./settle-delivery.ts";

/** What a worker works with. */
export interface WorkerParts extends SettleParts, Omit<AttemptOptions, "signal"> {
  readonly events: SenderDocuments<EventRecord>;
  /** Deliveries that are tried at once. */
  readonly concurrency: number;
  /** Of these, how many may go to one endpoint. */
  readonly endpointConcurrency: number;
  /** Milliseconds between two looks for deliveries that are due. */
  readonly pollInterval: number;
  /** Milliseconds after which a delivery may be taken over whose process ended. */
  readonly lease: number;
  /** Makes a secret ready, or finds it. */
  readonly keyFor: (secret: string) => SignatureKey;
  readonly onAttempt: (report: AttemptReport) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Takes due deliveries from the store and sends them. Any number of workers, in any number of processes, share one store:
 * a delivery belongs to whoever moved its due time forward, until that time.
 */
export class DeliveryWorker {
  readonly #parts: WorkerParts;
  readonly #abort: AbortController;
  readonly #running: Map<string, Promise<void>>;
  /** Deliveries under way by endpoint. */
  readonly #load: Map<string, number>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #look: Promise<void> | undefined;
  #state: "new" | "working" | "stopped";
  #mustLookAgain: boolean;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#abort = new AbortController();
    this.#running = new Map();
    this.#load = new Map();
    this.#state = "new";
    this.#mustLookAgain = false;
  }

  /** Begins to work; does nothing when it has. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "working";
    this.wake();
  }

  /** Looks for due deliveries now instead of at the next interval. */
  wake(): void {
    if (this.#state !== "working") return;
    if (this.#look !== undefined) {
      this.#mustLookAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#look = this.#takeDue()
      .catch((error: unknown) => {
        this.#parts.onError(error);
        return false;
      })
      .then((foundAll) => {
        this.#look = undefined;
        if (this.#state !== "working") return;
        this.#timer = setTimeout(() => this.wake(), this.#parts.pollInterval);
        if (this.#mustLookAgain || !foundAll) {
          this.#mustLookAgain = false;
          if (this.#hasRoom()) this.wake();
        }
      });
  }

  /** Takes nothing more, and lets what runs end; aborts it after `grace` milliseconds, to be tried again later. */
  async stop(grace: number): Promise<void> {
    this.#state = "stopped";
    clearTimeout(this.#timer);
    await this.#look;
    const timer = setTimeout(() => this.#abort.abort(), grace);
    await Promise.all(this.#running.values());
    clearTimeout(timer);
  }

  #hasRoom(): boolean {
    return this.#running.size < this.#parts.concurrency;
  }

  /** Starts what is due, as far as there is room. Resolves to whether that was all. */
  async #takeDue(): Promise<boolean> {
    const { deliveries, concurrency, endpointConcurrency, lease } = this.#parts;
    const room = concurrency - this.#running.size;
    if (room <= 0) return true;
    const busy = [...this.#load].filter(([, n]) => n >= endpointConcurrency).map(([id]) => id);
    const now = Date.now();
    const due = await deliveries.find({
      where: {
        status: "pending",
        dueAt: { lte: new Date(now).toISOString() },
        ...(busy.length > 0 && { endpointId: { notIn: busy } }),
      },
      sort: ["dueAt"],
      // More than fits, so that a worker in another process need not want the same ones.
      limit: room * 2,
    });
    const wanted = this.#choose(due, room);
    const leasedUntil = new Date(now + lease).toISOString();
    const claims = wanted.map((delivery) => this.#claim(delivery, leasedUntil));
    const claimed = (await Promise.all(claims)).filter((delivery) => delivery !== undefined);
    for (const delivery of claimed) {
      const work = this.#deliver(delivery).finally(() => {
        this.#running.delete(delivery.id);
        this.#count(delivery.endpointId, -1);
        this.wake();
      });
      this.#running.set(delivery.id, work);
    }
    // Room that is left though there was more: it is with endpoints that became free, or with another worker.
    return due.length < room * 2;
  }

  /** Takes some of the due deliveries, in no certain order, with no endpoint above its share. */
  #choose(due: readonly ClaimedDelivery[], room: number): readonly ClaimedDelivery[] {
    const chosen: ClaimedDelivery[] = [];
    const start = due.length > room ? Math.floor(Math.random() * due.length) : 0;
    for (let index = 0; index < due.length && chosen.length < room; index += 1) {
      const delivery = due[(start + index) % due.length];
      if (delivery === undefined || this.#running.has(delivery.id)) continue;
      if ((this.#load.get(delivery.endpointId) ?? 0) >= this.#parts.endpointConcurrency) continue;
      this.#count(delivery.endpointId, 1);
      chosen.push(delivery);
    }
    return chosen;
  }

  async #claim(delivery: ClaimedDelivery, dueAt: string): Promise<ClaimedDelivery | undefined> {
    const { id, version, attempts, endpointId } = delivery;
    try {
      const change = { dueAt, attempts: attempts + 1 };
      const claimed = await this.#parts.deliveries.update(id, change, { ifVersion: version });
      if (claimed !== undefined) return claimed;
    } catch (error) {
      if (!isVersionConflict(error)) this.#parts.onError(error);
    }
    this.#count(endpointId, -1);
    return undefined;
  }

  #count(endpointId: string, change: number): void {
    const load = (this.#load.get(endpointId) ?? 0) + change;
    if (load > 0) this.#load.set(endpointId, load);
    else this.#load.delete(endpointId);
  }

  // Never rejects: what the store refuses is reported, and the delivery falls due again with its lease.
  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const parts = this.#parts;
    try {
      const [event, endpoint] = await Promise.all([
        parts.events.get(delivery.eventId),
        parts.endpoints.get(delivery.endpointId),
      ]);
      const report =
        event === undefined || endpoint === undefined
          ? await giveUp(delivery, { deadReason: "removed", parts })
          : await this.#deliverTo(endpoint, delivery, event);
      if (report !== undefined) parts.onAttempt(report);
    } catch (error) {
      parts.onError(error);
    }
  }

  async #deliverTo(
    endpoint: EndpointRecord & SenderDocument,
    delivery: ClaimedDelivery,
    event: EventRecord,
  ): Promise<AttemptReport | undefined> {
    const parts = this.#parts;
    if (endpoint.status === "disabled") {
      return giveUp(delivery, { deadReason: "disabled", parts });
    }
    const message = {
      id: delivery.eventId,
      name: event.name,
      body: new TextEncoder().encode(event.payload),
      url: endpoint.url,
      key: parts.keyFor(endpoint.secret),
    };
    const { signal } = this.#abort;
    const result = await attemptDelivery(message, { ...parts, signal });
    if (signal.aborted && result.status === undefined) {
      // Cut off by `stop`, which says nothing about the endpoint: it falls due at once, for whoever works next.
      const dueAt = new Date().toISOString();
      await parts.deliveries.update(delivery.id, { dueAt }, { ifVersion: delivery.version });
      return undefined;
    }
    return settleDelivery(delivery, result, parts);
  }
}
