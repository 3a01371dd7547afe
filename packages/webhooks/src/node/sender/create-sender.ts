import type { Meta, Transaction } from "@fetchwork/documents";
import { createJobs } from "@fetchwork/documents/jobs";
import { optionError, WebhookUsageError } from "../../errors.ts";
import { checkOptions } from "../../check-options.ts";
import { fetchwork } from "../../vendors/fetchwork.ts";
import { createCatalogue, type EventTypes } from "./events/catalogue.ts";
import { createAnnouncer } from "./events/announce-changes.ts";
import { Breaker } from "./deliveries/breaker.ts";
import { DeliveryWorker } from "./deliveries/delivery-worker.ts";
import { createVault, validPrevious } from "./endpoints/endpoint-secrets.ts";
import { type Endpoints, storedEndpoints } from "./endpoints/endpoints.ts";
import { eventJob } from "./events/event-jobs.ts";
import type { EventToSend } from "./events/event-to-send.ts";
import { EventWriter, type PreparedEvent, type SentEvent } from "./events/event-writer.ts";
import { fanOut } from "./events/fan-out.ts";
import { joinLane } from "./events/lanes.ts";
import { storeTest } from "./events/store-test.ts";
import { guarded } from "../../guarded.ts";
import { lazyTransport } from "./deliveries/lazy-transport.ts";
import { publicTransport } from "./deliveries/public-transport.ts";
import { pruneSettled } from "./prune.ts";
import type { DeliveryRecord } from "./records.ts";
import { senderCollections } from "./sender-collections.ts";
import { retrySchedule } from "./deliveries/retry-schedule.ts";
import { checkSenderOptions, type SenderOptions } from "./sender-options.ts";
import { isEventName, isTenant, tenantForm } from "./endpoints/subscriptions.ts";
import { unlessTakenOver } from "./deliveries/settle-delivery.ts";

/** Options of `Sender.send`. */
interface SendEventOptions {
  /** Stores the event with the caller's changes, or not at all. Default: separately. */
  readonly transaction?: Transaction | undefined;
}

/** An event on its way to one endpoint. */
export type StoredDelivery = DeliveryRecord & Pick<Meta, "id" | "createdAt">;

/** Selects deliveries. */
interface DeliveryQuery {
  readonly id?: string | undefined;
  readonly status?: DeliveryRecord["status"] | undefined;
  readonly endpointId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Maximum number of deliveries, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined;
  /** Default: 0. */
  readonly offset?: number | undefined;
}

/** Sends events to endpoints, and retries. Made by {@link createSender}. */
export interface Sender extends AsyncDisposable {
  readonly endpoints: Endpoints;
  /** Types of events that can be sent, as the option has them; absent when all can be sent. */
  readonly eventTypes: EventTypes | undefined;
  /**
   * Stores an event and the job that finds its endpoints. Resolves when they are durable; a started
   * sender then stores one delivery for each endpoint that is enabled and wants the event, and
   * sends them. It may be in another process on the same store. An endpoint that was created more
   * than 5 minutes after the event does not get it.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT`, or `ERR_WEBHOOKS_OPTION` for a property that
   * does not exist
   */
  send(event: EventToSend, options?: SendEventOptions): Promise<SentEvent>;
  /**
   * Sends the `example` of an event type to one endpoint only, whatever it is subscribed to.
   * Resolves to the delivery, or to `undefined` when there is no such endpoint.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME` for an unknown event type,
   *   `ERR_WEBHOOKS_ARGUMENT` for one without an example or with an example that its schema refuses
   */
  sendTest(endpointId: string, eventType: string): Promise<StoredDelivery | undefined>;
  /** Starts to find the endpoints of events and to deliver; without it this process only stores. */
  start(): void;
  /**
   * Claims no further events and deliveries, and waits for running attempts. After `grace`
   * milliseconds it aborts them; the next worker retries them. Default: `10_000`.
   */
  stop(options?: { readonly grace?: number | undefined }): Promise<void>;
  /** Lists deliveries, newest first. */
  deliveries(query?: DeliveryQuery): Promise<readonly StoredDelivery[]>;
  /** Lists deliveries that were given up, newest first. */
  deadLetters(query?: Omit<DeliveryQuery, "status">): Promise<readonly StoredDelivery[]>;
  /** Delivers again, with all attempts. Resolves to whether there is such a delivery. */
  replay(deliveryId: string): Promise<boolean>;
  /** Replays all deliveries that were given up. Resolves to their number. */
  replayAll(query?: { readonly endpointId?: string | undefined }): Promise<number>;
}

const identifier = /^[\w-]{1,64}$/;
/** Bytes of an event's body. */
const maxPayload = 1_048_576;
/** Milliseconds for which records of the feed of changes are kept. */
const keepRecordsFor = 7 * 86_400_000;
/** Milliseconds between two removals of old documents. */
const pruneInterval = 3_600_000;
/** Limits that jobs accept, in milliseconds. */
const shortestPoll = 10;
const shortestLease = 1_000;
const longestLease = 86_400_000;

/**
 * Makes a sender of webhooks on a document store.
 *
 * Every event is stored before `send` resolves. It is delivered at least once to each endpoint that
 * is subscribed to it, even when processes crash in between. A receiver recognizes duplicates by
 * the identifier of the event.
 *
 * @example
 * ```ts
 * const sender = createSender({ store });
 * sender.start();
 * const { secret } = await sender.endpoints.create({ url: "https://example.com/hooks", events: ["order"] });
 * await sender.send({ name: "order", payload: { action: "paid", total: 12 } });
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createSender(options: SenderOptions): Sender {
  const numbers = checkSenderOptions(options);
  const {
    store,
    vendor = fetchwork,
    allowHttp = false,
    allowPrivate = false,
    transport = allowPrivate ? lazyTransport() : publicTransport(),
    onAttempt = () => {},
    onError = logError,
  } = options;
  const reportError = guarded(onError, logError);
  const reportAttempt = guarded(onAttempt, reportError);
  const catalogue = createCatalogue(options.eventTypes);
  const schedule = retrySchedule(options.retry);
  const { giveUpAfter } = schedule;
  const rules = { allowHttp, allowPrivate: allowPrivate || options.transport !== undefined };
  const endpoints = store.collection(senderCollections.endpoints);
  const events = store.collection(senderCollections.events);
  const deliveries = store.collection(senderCollections.deliveries);
  const jobs = createJobs(store, {
    pollInterval: Math.max(shortestPoll, numbers.pollInterval),
    lease: Math.min(Math.max(shortestLease, numbers.lease), longestLease),
    onError: (error) => reportError(error),
  });
  const writer = new EventWriter(store, jobs);
  const health = store.collection(senderCollections.health);
  const breaker = new Breaker({ health, deliveries, schedule });
  const vault = createVault(options.sealWith);
  const worker = new DeliveryWorker({
    ...numbers,
    store,
    endpoints,
    events,
    deliveries,
    schedule,
    breaker,
    transport,
    vendor,
    secretsOf({ tenant, secrets: text }) {
      const all = vault.read(tenant, text);
      const keys = [all, ...validPrevious(all)].map(({ secret }) =>
        vendor.scheme.createKey(secret),
      );
      return { keys, headers: all.headers ?? {} };
    },
    onAttempt: reportAttempt,
    onError: reportError,
  });
  const announcer = createAnnouncer({
    store,
    prepare,
    write: (event) => writer.write(event),
    collections: options.announce ?? [],
    onError: reportError,
  });
  let pruneTimer: ReturnType<typeof setInterval> | undefined;
  let pruning: Promise<unknown> | undefined;
  let isStopped = false;

  function prune(): void {
    pruning ??= Promise.all([pruneSettled(store, numbers.keepFor), trimFeed()])
      .catch(reportError)
      .finally(() => {
        pruning = undefined;
      });
  }

  /** Removes records of changes that were announced, unless nothing is. */
  async function trimFeed(): Promise<void> {
    if ((options.announce ?? []).length === 0) return;
    await store.trimChanges({ before: new Date(Date.now() - keepRecordsFor).toISOString() });
  }

  async function prepare(event: EventToSend): Promise<PreparedEvent> {
    const prepared = prepareEvent(event);
    await catalogue.check(event);
    return prepared;
  }

  async function list(query: DeliveryQuery = {}): Promise<readonly StoredDelivery[]> {
    checkOptions("deliveries", query, ["id", "status", "endpointId", "eventId", "limit", "offset"]);
    const { limit = 100, offset = 0, id, status, endpointId, eventId } = query;
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= 1000)) {
      throw optionError("limit", limit, "1 to 1000");
    }
    const where = {
      ...(id !== undefined && { id }),
      ...(status !== undefined && { status }),
      ...(endpointId !== undefined && { endpointId }),
      ...(eventId !== undefined && { eventId }),
    };
    return deliveries.find({ where, sort: ["-createdAt"], limit, offset });
  }

  async function replay(id: string): Promise<boolean> {
    const delivery = await deliveries.get(id);
    // A pending delivery needs no replay.
    if (delivery === undefined || delivery.status === "pending") return delivery !== undefined;
    const { endpointId, lane, version } = delivery;
    const now = Date.now();
    const dueAt = new Date(now).toISOString();
    const change = {
      status: "pending",
      dueAt,
      expiresAt: new Date(now + giveUpAfter).toISOString(),
      attempts: 0,
      deadReason: undefined,
      settledAt: undefined,
    } as const;
    const replayed = store.transaction(async (transaction) => {
      const own = transaction.collection(senderCollections.deliveries);
      // Undefined: it was removed since, and must not hold a lane up.
      const found = await own.update(id, change, { ifVersion: version });
      if (lane === undefined || found === undefined) return;
      const { dueAt: turn } = await joinLane(transaction, lane, dueAt);
      await own.update(id, { dueAt: turn });
    });
    // A concurrent change is a replay, too.
    await unlessTakenOver(replayed);
    worker.wake([endpointId]);
    return true;
  }

  const stop: Sender["stop"] = async ({ grace = 10_000 } = {}) => {
    const isDuration = grace === Infinity || (grace >= 0 && grace <= 2_147_483_647);
    if (!isDuration) throw optionError("grace", grace, "milliseconds, or Infinity");
    isStopped = true;
    clearInterval(pruneTimer);
    await Promise.all([announcer.stop(), jobs.close({ grace }), worker.stop(grace)]);
    await pruning;
    if (options.transport === undefined) await transport.close();
  };

  return {
    endpoints: storedEndpoints(endpoints, { rules, vendor, breaker, vault, catalogue }),
    eventTypes: options.eventTypes,
    async send(event, options = {}) {
      checkOptions("an event", event, ["name", "payload", "id", "tenant", "key"]);
      checkOptions("send", options, ["transaction"]);
      const { transaction } = options;
      const prepared = await prepare(event);
      return transaction === undefined
        ? writer.write(prepared)
        : writer.writeIn(transaction, prepared);
    },
    async sendTest(endpointId, eventType) {
      const event = await prepare(catalogue.exampleOf(eventType));
      const delivery = await storeTest(store, { endpointId, event, giveUpAfter });
      if (delivery !== undefined) worker.wake([endpointId]);
      return delivery;
    },
    start() {
      if (pruneTimer !== undefined || isStopped) return;
      pruneTimer = setInterval(prune, pruneInterval);
      pruneTimer.unref();
      prune();
      worker.start();
      announcer.start();
      jobs.work(
        eventJob,
        fanOut(store, giveUpAfter, (endpointIds) => worker.wake(endpointIds)),
      );
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
    deliveries: list,
    deadLetters: (query) => list({ ...query, status: "dead" }),
    replay,
    async replayAll(query = {}) {
      checkOptions("replayAll", query, ["endpointId"]);
      const { endpointId } = query;
      const dead = { status: "dead", ...(endpointId !== undefined && { endpointId }) } as const;
      // Excludes those that are given up again while this runs. Clocks of processes differ.
      const [last] = await deliveries.find({ where: dead, sort: ["-settledAt"], limit: 1 });
      const where = { ...dead, settledAt: { lte: last?.settledAt ?? "" } };
      const seen = new Set<string>();
      for (;;) {
        const page = await deliveries.find({ where, sort: ["settledAt"], limit: 1000, fields: [] });
        const others = page.filter(({ id }) => !seen.has(id));
        if (others.length === 0) return seen.size;
        for (const { id } of others) seen.add(id);
        await Promise.all(others.map(({ id }) => replay(id)));
      }
    },
  };
}

function prepareEvent({
  id = crypto.randomUUID(),
  name,
  payload,
  tenant,
  key,
}: EventToSend): PreparedEvent {
  if (!isEventName(name))
    throw argumentError("invalid event name, expected 1 to 128 letters, digits and _.:/-");
  if (typeof id !== "string" || !identifier.test(id)) {
    throw argumentError("invalid id, expected 1 to 64 letters, digits, _ and -");
  }
  if (tenant !== undefined && !isTenant(tenant)) {
    throw argumentError(`invalid tenant, expected ${tenantForm}`);
  }
  if (key !== undefined && !(typeof key === "string" && key.length >= 1 && key.length <= 128)) {
    throw argumentError("invalid key, expected 1 to 128 characters");
  }
  const text = typeof payload === "object" && payload !== null ? toJson(payload) : undefined;
  // A `toJSON` may make anything of it, as that of a date does.
  if (text === undefined || !/^[{[]/.test(text)) {
    throw argumentError("payload must be an object that can be written as JSON");
  }
  if (Buffer.byteLength(text) > maxPayload) {
    throw argumentError(`payload exceeds ${maxPayload} bytes`);
  }
  return {
    id,
    name,
    payload: text,
    ...(tenant !== undefined && { tenant }),
    ...(key !== undefined && { key }),
  };
}

function toJson(payload: object): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch (cause) {
    throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", "payload cannot be written as JSON", {
      cause,
    });
  }
}

function argumentError(problem: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", problem);
}

function logError(error: unknown): void {
  console.error(error);
}
