import { checkOptions } from "../../check-options.ts";
import { checkEvent } from "../../dispatch/event-handler.ts";
import type { AnyEvent, EventMap, EventName, WebhookEvent } from "../../event-map.ts";
import { Webhooks } from "../../receive/webhooks.ts";
import type { VendorEvents } from "../../vendors/vendor-events.ts";
import { DeliveryQueue, eventOf, type QueuedDelivery } from "./delivery-queue.ts";
import type { InboxContext, InboxOptions } from "./inbox-options.ts";

/** A delivery that was given up. */
export interface DeadDelivery<Events extends EventMap = VendorEvents> {
  /** For `replay`; not the identifier of the event. */
  readonly id: string;
  readonly event: AnyEvent<Events>;
  /** How many attempts failed. */
  readonly failures: number;
  /** Why the last one failed. */
  readonly error: { readonly name: string; readonly message: string } | undefined;
  /** When it was stored, and when it was given up; ISO 8601 in UTC. */
  readonly receivedAt: string;
  readonly diedAt: string | undefined;
}

/** Selects dead deliveries. */
interface DeadQuery {
  /** Maximum number, 1 to 1,000. Default: `100`. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. Default: the first page. */
  readonly after?: string | undefined;
}

/** Some dead deliveries, those that died first at the beginning. */
interface DeadPage<Events extends EventMap> {
  readonly items: readonly DeadDelivery<Events>[];
  /** For `after`; `undefined` on the last page. */
  readonly next: string | undefined;
}

/**
 * `Webhooks` that store a delivery before it is acknowledged, and handle it later in a transaction.
 * Receivers of all kinds take it: they respond with 202 when the delivery is durable, also to a
 * duplicate, which is not stored again. They respond with 503 when the store fails, so that the
 * sender retries. Made by {@link createInbox}.
 */
export class Inbox<Events extends EventMap = VendorEvents>
  extends Webhooks<Events>
  implements AsyncDisposable
{
  /**
   * Adds a handler for one or more names, in every process that is started: an event that no
   * handler of the process wants counts as handled. All handlers of an event share its transaction,
   * and all are retried when one fails.
   *
   * @throws WebhookUsageError as `on` of `Webhooks`
   */
  declare readonly on: <Name extends EventName<Events>>(
    eventName: Name | readonly Name[],
    handler: (event: WebhookEvent<Events, Name>, context: InboxContext) => unknown,
  ) => void;
  /** Adds a handler for every event. */
  declare readonly onAny: (
    handler: (event: AnyEvent<Events>, context: InboxContext) => unknown,
  ) => void;
  /**
   * Stores an event from another source, without verifying anything; the same event twice is stored
   * twice. Resolves when it is durable.
   */
  override readonly receive: Webhooks<Events>["receive"];
  readonly #queue: DeliveryQueue<Events>;
  #state: "new" | "started" | "stopped" = "new";

  /** @internal Use {@link createInbox}. */
  constructor(options: InboxOptions<Events>) {
    const queue = new DeliveryQueue(options);
    const { vendor, secret, additionalSecrets, log, maxUnverified, onUnknownEventName } = options;
    super({ vendor, secret, additionalSecrets, log, maxUnverified, onUnknownEventName }, queue);
    this.#queue = queue;
    this.receive = async (event) => queue.add(checkEvent(event, this.dispatcher));
  }

  /** Starts to handle deliveries; without it this process only stores. Nothing after `stop`. */
  start(): void {
    if (this.#state !== "new") return;
    this.#state = "started";
    this.#queue.jobs.work(this.#queue.definition, (delivery, run) =>
      run.complete(async (transaction) => {
        const late = new AbortController();
        const timer = setTimeout(() => late.abort(), transactionTime);
        const context: InboxContext = {
          transaction,
          attempt: run.attempt,
          signal: AbortSignal.any([run.signal, late.signal]),
        };
        try {
          await this.dispatcher.dispatch(eventOf(delivery), context);
        } finally {
          clearTimeout(timer);
        }
      }),
    );
  }

  /**
   * Begins nothing more, and waits for running handlers, whose signals abort after `grace`
   * milliseconds. Their deliveries are then handled by another process, or after the next start.
   * Default: `5_000`.
   */
  async stop(options: { readonly grace?: number | undefined } = {}): Promise<void> {
    checkOptions("stop", options, ["grace"]);
    this.#state = "stopped";
    await this.#queue.jobs.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Lists deliveries that were given up. */
  async deadLetters(query: DeadQuery = {}): Promise<DeadPage<Events>> {
    checkOptions("deadLetters", query, ["limit", "after"]);
    const { definition, jobs } = this.#queue;
    const { items, next } = await jobs.list({ ...query, state: "dead", job: definition.name });
    return {
      items: items.map((job) => ({
        id: job.id,
        // The vendor's types describe its payloads.
        event: eventOf(job.input as QueuedDelivery) as AnyEvent<Events>,
        failures: job.failures,
        error: job.error,
        receivedAt: job.createdAt,
        diedAt: job.finishedAt,
      })),
      next,
    };
  }

  /** Handles a dead delivery again, with all attempts. Resolves to whether there is one. */
  async replay(id: string): Promise<boolean> {
    const { definition, jobs } = this.#queue;
    const known = await jobs.get(id);
    return known?.job === definition.name && jobs.retry(id);
  }

  /** Replays all dead deliveries. Resolves to their number. */
  async replayAll(): Promise<number> {
    const seen = new Set<string>();
    for (let after: string | undefined; ;) {
      const { items, next } = await this.deadLetters({ limit: 1000, after });
      // Deliveries that died again are at the end.
      const dead = items.filter(({ id }) => !seen.has(id));
      for (const { id } of dead) seen.add(id);
      await Promise.all(dead.map(({ id }) => this.replay(id)));
      if (next === undefined || dead.length === 0) return seen.size;
      after = next;
    }
  }
}

/** Milliseconds after which the store rolls a transaction back. */
const transactionTime = 10_000;

/**
 * Makes an inbox: a receiver that loses no acknowledged delivery, and handles each exactly once,
 * whatever is killed.
 *
 * @example
 * ```ts
 * const inbox = createInbox({ store, vendor: fetchwork, secret });
 * inbox.on("order.paid", async ({ payload }, { transaction }) => {
 *   await transaction.collection(payments).insert({ total: Number(payload["total"]) });
 * });
 * inbox.start();
 * createServer(createNodeMiddleware(inbox)).listen(3000);
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET`
 * @throws DocumentsTypeError `ERR_DOCUMENTS_OPTIONS` for options that the queue refuses
 */
export function createInbox<Events extends EventMap = VendorEvents>(
  options: InboxOptions<Events>,
): Inbox<Events> {
  return new Inbox(options);
}
