import { type Collection, type Stored, VersionError, type Where } from "@fetchwork/documents";
import { attemptDelivery, type AttemptOptions, type MessageSecrets } from "./attempt-delivery.ts";
import { EndpointHealth } from "./endpoint-health.ts";
import type { DeliveryRecord, EndpointRecord, EventRecord } from "../records.ts";
import {
  type AttemptReport,
  type ClaimedDelivery,
  giveUp,
  settleDelivery,
  type SettleParts,
  unlessTakenOver,
} from "./settle-delivery.ts";

/** Options of a {@link DeliveryWorker}. */
export interface WorkerParts extends SettleParts, Omit<AttemptOptions, "signal"> {
  readonly events: Collection<EventRecord>;
  /** Maximum number of concurrent attempts. */
  readonly concurrency: number;
  /** Maximum number of concurrent attempts to one endpoint that responds. */
  readonly endpointConcurrency: number;
  /** Milliseconds between two looks for deliveries that are due. */
  readonly pollInterval: number;
  /** Milliseconds after which a delivery may be taken over whose process ended. */
  readonly lease: number;
  /** Reads what signs deliveries to an endpoint. */
  readonly secretsOf: (endpoint: Stored<EndpointRecord>) => MessageSecrets;
  /** Never throws. */
  readonly onAttempt: (report: AttemptReport) => void;
  /** Never throws. */
  readonly onError: (error: unknown) => void;
}

/** Maximum number of endpoints that one query excludes. */
const maxLeftOut = 200;

/**
 * Takes due deliveries from the store and sends them. Any number of workers, in any number of
 * processes, share one store: a delivery belongs to the worker that moved its due time forward,
 * until that time.
 *
 * Endpoints that are known to have more than they may get now wait in line. They are asked for by
 * name. Looks at the whole store leave them out. So the backlog of one endpoint neither hides
 * others nor costs with each delivery.
 */
export class DeliveryWorker {
  readonly #parts: WorkerParts;
  readonly #abort = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  /** Counts the attempts under way. */
  readonly #health: EndpointHealth;
  /** Endpoints that have due deliveries; whose turn is next comes first. */
  readonly #waiting = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #look: Promise<void> | undefined;
  #state: "new" | "working" | "stopped" = "new";
  #mustLookAgain = false;
  /** When the whole store is looked at next; milliseconds of `performance.now()`. */
  #scanAt = 0;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#health = new EndpointHealth(parts.concurrency, parts.endpointConcurrency);
  }

  /** Begins to work; does nothing when it has, or was stopped. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "working";
    this.#wake();
  }

  /** Takes deliveries to these endpoints now instead of at the next interval. */
  wake(endpointIds: readonly string[]): void {
    if (this.#state !== "working") return;
    for (const id of endpointIds) this.#waiting.add(id);
    this.#wake();
  }

  /** Claims no more and waits; after `grace` ms it aborts attempts for later retries. */
  async stop(grace: number): Promise<void> {
    this.#state = "stopped";
    clearTimeout(this.#timer);
    await this.#look;
    const timer = grace === Infinity ? undefined : setTimeout(() => this.#abort.abort(), grace);
    await Promise.all(this.#running.values());
    clearTimeout(timer);
  }

  #wake(): void {
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
      .then((hasMore) => {
        this.#look = undefined;
        if (this.#state !== "working") return;
        const wait = Math.min(
          this.#parts.pollInterval,
          this.#scanAt - performance.now(),
          // Its place is free then.
          this.#waiting.size > 0 ? (this.#health.age() ?? Infinity) : Infinity,
        );
        this.#timer = setTimeout(() => this.#wake(), Math.max(1, wait));
        const mustLookAgain = hasMore || this.#mustLookAgain;
        this.#mustLookAgain = false;
        if (mustLookAgain && this.#health.places() > 0) this.#wake();
      });
  }

  /** How many more an endpoint may get. */
  #roomFor(endpointId: string): number {
    const room = this.#health.room(endpointId);
    if (!this.#parts.breaker.isFailing(endpointId)) return room;
    return Math.min(room, 1 - this.#health.running(endpointId));
  }

  /** Starts due deliveries while there is room. Resolves to whether more can be started. */
  async #takeDue(): Promise<boolean> {
    await this.#parts.breaker.load();
    this.#health.age();
    if (this.#health.places() <= 0) return false;
    const hasScanned = performance.now() >= this.#scanAt;
    let hasChanged = hasScanned && (await this.#scan());
    const inLine = [...this.#waiting];
    for (const endpointId of inLine) {
      if (this.#parts.breaker.isPaused(endpointId)) {
        // The look after its pause finds what it has.
        this.#waiting.delete(endpointId);
        continue;
      }
      const room = this.#roomFor(endpointId);
      if (room <= 0) continue;
      // If it has more, it queues again at the end.
      this.#waiting.delete(endpointId);
      const running = this.#health.running(endpointId);
      const due = await this.#findDue({ endpointId }, room * 2 + running);
      hasChanged = (await this.#take(due, room)) || hasChanged;
    }
    // Without a change there is nothing to gain: the store refuses, or others take everything.
    if (!hasChanged) return false;
    return this.#scanAt === 0 || [...this.#waiting].some((id) => this.#roomFor(id) > 0);
  }

  /** Looks for endpoints that are not known to have due deliveries. */
  async #scan(): Promise<boolean> {
    const room = this.#health.places();
    // More than fits, so that a worker in another process need not want the same ones.
    const limit = room * 2 + this.#running.size;
    const leftOut = [...this.#parts.breaker.crowded(), ...this.#waiting].slice(0, maxLeftOut);
    const begun = performance.now();
    const due = await this.#findDue(
      leftOut.length === 0 ? {} : { endpointId: { notIn: leftOut } },
      limit,
    );
    const now = performance.now();
    // A long look, past much that it leaves out, must not become all that is done.
    this.#scanAt = now + Math.max(this.#parts.pollInterval, 9 * (now - begun));
    const hasChanged = await this.#take(due, room);
    if (due.length === limit && hasChanged) this.#scanAt = 0;
    return hasChanged;
  }

  #findDue(which: Where<DeliveryRecord>, limit: number): Promise<readonly ClaimedDelivery[]> {
    const dueAt = { lte: new Date().toISOString() };
    const where = { status: "pending", dueAt, ...which } as const;
    return this.#parts.deliveries.find({ where, sort: ["dueAt"], limit });
  }

  /** Claims and starts some due deliveries. Resolves to whether any of them is no longer due. */
  async #take(due: readonly ClaimedDelivery[], room: number): Promise<boolean> {
    const leasedUntil = new Date(Date.now() + this.#parts.lease).toISOString();
    const { chosen, paused } = this.#choose(due, room);
    const claims = chosen.map((delivery) => this.#claim(delivery, leasedUntil));
    for (const endpointId of paused) await this.#parts.breaker.moveDue(endpointId);
    let hasChanged = paused.size > 0;
    for (const claimed of await Promise.all(claims)) {
      hasChanged ||= claimed !== "refused";
      if (typeof claimed === "string") continue;
      const { id, lane, endpointId } = claimed;
      const work = this.#deliver(claimed).finally(() => {
        this.#running.delete(id);
        this.#health.end(id);
        // The next one of its lane may be due.
        if (lane !== undefined) this.#waiting.add(endpointId);
        this.#wake();
      });
      this.#running.set(id, work);
    }
    return hasChanged;
  }

  /**
   * Takes some of the due deliveries, in no certain order, with no endpoint above its share; the
   * others get in line, unless their endpoints are paused.
   */
  #choose(
    due: readonly ClaimedDelivery[],
    room: number,
  ): { readonly chosen: readonly ClaimedDelivery[]; readonly paused: ReadonlySet<string> } {
    const chosen: ClaimedDelivery[] = [];
    const paused = new Set<string>();
    const start = due.length > room ? Math.floor(Math.random() * due.length) : 0;
    for (let index = 0; index < due.length; index += 1) {
      const delivery = due[(start + index) % due.length];
      // One that runs is due when its lease is over, or the clock was put forward.
      if (delivery === undefined || this.#running.has(delivery.id)) continue;
      const { endpointId } = delivery;
      if (this.#parts.breaker.isPaused(endpointId)) {
        paused.add(endpointId);
        continue;
      }
      if (chosen.length >= room || this.#roomFor(endpointId) <= 0) {
        this.#waiting.add(endpointId);
        continue;
      }
      this.#health.begin(delivery.id, endpointId);
      chosen.push(delivery);
    }
    return { chosen, paused };
  }

  async #claim(
    delivery: ClaimedDelivery,
    dueAt: string,
  ): Promise<ClaimedDelivery | "taken" | "refused"> {
    const { id, version, attempts } = delivery;
    let outcome: "taken" | "refused" = "taken";
    try {
      const change = { dueAt, attempts: attempts + 1 };
      const claimed = await this.#parts.deliveries.update(id, change, { ifVersion: version });
      if (claimed !== undefined) return claimed;
    } catch (error) {
      if (!(error instanceof VersionError)) {
        outcome = "refused";
        this.#parts.onError(error);
      }
    }
    this.#health.end(id);
    return outcome;
  }

  // Never rejects: what the store refuses is reported, and the delivery falls due again with its
  // lease.
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
    endpoint: Stored<EndpointRecord>,
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
      secrets: () => parts.secretsOf(endpoint),
    };
    const { signal } = this.#abort;
    const result = await attemptDelivery(message, { ...parts, signal });
    const { status } = result.attempt;
    if (signal.aborted && status === undefined) {
      // Aborted by `stop`, which is not the endpoint's fault: it is due at once, for the next
      // worker.
      const dueAt = new Date().toISOString();
      await unlessTakenOver(
        parts.deliveries.update(delivery.id, { dueAt }, { ifVersion: delivery.version }),
      );
      return undefined;
    }
    if (result.timedOut) this.#health.note(endpoint.id, "timeout");
    else if (status !== undefined) this.#health.note(endpoint.id, "response");
    return settleDelivery(delivery, { ...result, url: endpoint.url }, parts);
  }
}
