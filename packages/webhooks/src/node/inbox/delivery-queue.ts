import { createHash } from "node:crypto";
import { createJobs, defineJob, type JobDefinition, type Jobs } from "@fetchwork/documents/jobs";
import type { Logger } from "@fetchwork/kit";
import { bodyError, WebhookError } from "../../errors.ts";
import type { AnyEvent, EventMap, UntypedEvent } from "../../event-map.ts";
import { completeLogger, oneLine } from "../../logger.ts";
import { type DeliveryGuard, signedIdOf } from "../../receive/replay-guard.ts";
import type { SignatureKey, SignedMessage } from "../../schemes/signature-scheme.ts";
import type { Vendor } from "../../vendors/define-vendor.ts";
import { checkInboxOptions, type InboxOptions } from "./inbox-options.ts";

/** A delivery as it is queued. */
export interface QueuedDelivery {
  /** The event as JSON: as text, because stores refuse some of what JSON can say. */
  readonly event: string;
  /** A digest, because the key may be any text. */
  readonly key?: string;
}

/** Maximum bytes of an event. Documents have at most 16 MiB, and JSON text may double that. */
const maxEvent = 8_000_000;
const week = 604_800_000;

/** Stores verified deliveries as jobs, each once: the id of the job is its replay mark. */
export class DeliveryQueue<Events extends EventMap> implements DeliveryGuard {
  readonly jobs: Jobs;
  readonly definition: JobDefinition<QueuedDelivery>;
  readonly #options: InboxOptions<Events>;
  readonly #vendor: Vendor;
  readonly #log: Logger;

  constructor(options: InboxOptions<Events>) {
    const { vendor, name } = checkInboxOptions(options);
    const { store, retries = 20, backoff, concurrency = 8, keepFor = week } = options;
    const { dropEqualBodiesFor: keep = keepFor, pollInterval, lease } = options;
    this.#options = options;
    this.#vendor = vendor;
    this.#log = completeLogger(options.log);
    this.definition = defineJob<QueuedDelivery>(`webhook-inbox.${name}`, {
      retries,
      backoff,
      concurrency,
      keep,
      key: ({ key }) => key,
    });
    this.jobs = createJobs(store, {
      pollInterval,
      lease,
      onError: (error, failure) => {
        if (failure === undefined) return this.#log.error("the inbox of webhooks failed", error);
        const { id, attempt, isDead } = failure;
        const end = isDead ? ", and is dead" : "";
        this.#log.error(`the webhook delivery ${id} failed at attempt ${attempt}${end}`, error);
      },
    });
  }

  /**
   * Stores a delivery, unless it is stored.
   *
   * @throws WebhookError `ERR_WEBHOOKS_REPLAY_STORE` when the store fails, `ERR_WEBHOOKS_BODY_SIZE`
   */
  async claim(
    event: UntypedEvent,
    message: SignedMessage,
    signatureKey: SignatureKey,
  ): Promise<"stored"> {
    await this.add(event, await this.#markOf(event, message, signatureKey));
    return "stored";
  }

  /** Stores an event; without an id, each time. Errors as those of `claim`. */
  async add({ id, name, payload }: UntypedEvent, jobId?: string): Promise<void> {
    const event = { id, name, payload };
    const text = JSON.stringify(event);
    if (Buffer.byteLength(text) > maxEvent) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
    // The vendor's types describe its payloads.
    const key = this.#options.key?.(event as AnyEvent<Events>);
    const input = { event: text, ...(key !== undefined && { key: digestOf(key) }) };
    try {
      const known = jobId === undefined ? undefined : await this.jobs.get(jobId);
      if (known === undefined) await this.jobs.add(this.definition, input, { id: jobId });
      // Its sender asks for another try.
      else if (known.state === "dead") await this.jobs.retry(known.id);
      else
        this.#log.warn(`${oneLine(name)} event dropped (id: ${oneLine(id)}): it is stored already`);
    } catch (cause) {
      const message = "the store of the inbox failed";
      throw new WebhookError("ERR_WEBHOOKS_REPLAY_STORE", message, { cause, event, status: 503 });
    }
  }

  /** Id that stores a delivery once; `undefined` if nothing signed identifies it. */
  async #markOf(
    event: UntypedEvent,
    { headers, body }: SignedMessage,
    signatureKey: SignatureKey,
  ): Promise<string | undefined> {
    const { secret, dropEqualBodiesFor } = this.#options;
    const id = signedIdOf(this.#vendor, event, headers);
    if (!id && dropEqualBodiesFor === undefined) return undefined;
    const content = id || body;
    // With a function, secrets are those of tenants, who must not drop the deliveries of each
    // other. Otherwise the mark stays the same when the secret changes between two attempts.
    const digest =
      typeof secret === "function"
        ? await signatureKey.fingerprint(id ? "id:" : "body:", content)
        : digestOf(content);
    return `${this.definition.name}:${digest.slice(0, 64)}`;
  }
}

/** Reads the event of a queued delivery. */
export function eventOf({ event }: QueuedDelivery): UntypedEvent {
  // It was written by `add`.
  return JSON.parse(event) as UntypedEvent;
}

function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
