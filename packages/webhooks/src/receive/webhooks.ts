import { checkAmount } from "../check-amount.ts";
import { DeliveryPipeline, type RawDelivery, signatureError } from "./delivery-processor.ts";
import { WebhookUsageError } from "../errors.ts";
import { createHandling, type EventHandler } from "../dispatch/event-handler.ts";
import type { AnyEvent, EventMap } from "../event-map.ts";
import { handlerOptionNames } from "../dispatch/event-handler-options.ts";
import { type HeaderRecord, readHeaders } from "../header-record.ts";
import { kindOf } from "./content-kind.ts";
import { checkOptionNames } from "../option-names.ts";
import { readWebBody } from "./read-body.ts";
import { replaySettings } from "./replay-guard.ts";
import { createSecretRing } from "./secret-ring.ts";
import type { HeaderReader } from "../schemes/signature-scheme.ts";
import { isThenable } from "../thenable.ts";
import { type UnverifiedBody, UnverifiedBudget } from "./unverified-budget.ts";
import type { Vendor } from "../vendors/define-vendor.ts";
import type { VendorEvents } from "../vendors/vendor-events.ts";
import type { WebhooksOptions } from "./webhooks-options.ts";

/** A delivery in parts. The payload is the raw body: its bytes, or its text when it is UTF-8. */
export type Delivery =
  | {
      readonly id: string;
      readonly name: string;
      readonly payload: string | Uint8Array;
      readonly signature: string;
    }
  | {
      readonly payload: string | Uint8Array;
      readonly headers: HeaderReader | HeaderRecord;
    };

/** What is signed beside the payload, by vendors that sign it. */
export interface SignDetails {
  /** Identifier of the delivery. Default: a random one. */
  readonly id?: string | undefined;
  /** Seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined;
}

const defaultMaxBody = 26_214_400;
const optionNames = [
  ...handlerOptionNames,
  "secret",
  "additionalSecrets",
  "replay",
  "maxUnverified",
];

/**
 * Verifies deliveries and calls handlers. All methods are bound.
 *
 * @example
 * ```ts
 * const webhooks = new Webhooks({ secret: "…" });
 * webhooks.on("issues.opened", ({ payload }) => console.log(payload));
 * await webhooks.verifyAndReceive({ id, name, payload: rawBody, signature });
 * ```
 */
export class Webhooks<
  Events extends EventMap = VendorEvents,
  Transformed = unknown,
> implements EventHandler<Events, Transformed> {
  /** Who sends. */
  readonly vendor: Vendor<Events>;
  /** Adds a handler for a name or several. See {@link EventHandler}. */
  readonly on: EventHandler<Events, Transformed>["on"];
  /** Adds a handler for every event. See {@link EventHandler}. */
  readonly onAny: EventHandler<Events, Transformed>["onAny"];
  /** Adds a handler of failures. See {@link EventHandler}. */
  readonly onError: EventHandler<Events, Transformed>["onError"];
  /** Removes the most recent registration of a handler. See {@link EventHandler}. */
  readonly removeListener: EventHandler<Events, Transformed>["removeListener"];
  /** Calls handlers without verifying anything. See {@link EventHandler}. */
  readonly receive: EventHandler<Events, Transformed>["receive"];
  readonly #pipeline: DeliveryPipeline;

  /** @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET` */
  constructor(options: WebhooksOptions<Events, Transformed>) {
    const { secret, additionalSecrets = [], replay = false } = options ?? {};
    const { maxUnverified = 67_108_864 } = options ?? {};
    if (secret === undefined || secret === null || secret === "") {
      throw new WebhookUsageError("ERR_WEBHOOKS_OPTION", "options.secret required");
    }
    checkOptionNames(options, { owner: "Webhooks", names: optionNames });
    const { vendor, handler, dispatcher } = createHandling(options);
    checkAmount("maxUnverified", maxUnverified, 1);
    this.#pipeline = new DeliveryPipeline({
      vendor,
      dispatcher,
      ring: createSecretRing(vendor.scheme, secret, additionalSecrets),
      replay: replaySettings(replay, { vendor, log: dispatcher.log }),
      budget: new UnverifiedBudget(maxUnverified),
    });
    this.vendor = vendor;
    this.on = handler.on;
    this.onAny = handler.onAny;
    this.onError = handler.onError;
    this.removeListener = handler.removeListener;
    this.receive = handler.receive;
    this.sign = this.sign.bind(this);
    this.verify = this.verify.bind(this);
    this.verifyAndReceive = this.verifyAndReceive.bind(this);
    this.verifyAndParse = this.verifyAndParse.bind(this);
  }

  /**
   * Signs a payload with the first secret; resolves to the value of the signature's header.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` without a payload
   */
  async sign(payload: string | Uint8Array, details: SignDetails = {}): Promise<string> {
    const { id = crypto.randomUUID(), timestamp = Math.floor(Date.now() / 1000) } = details;
    const body = checkPayload(payload);
    const [key] = await this.#pipeline.ring({ id, name: "", headers: new Headers() });
    const headers = await key?.sign({ id, timestamp, body });
    const signature = headers?.[this.vendor.scheme.signatureHeader];
    if (signature === undefined) throw argumentError("there is no secret to sign with");
    return signature;
  }

  /**
   * Tells whether a signature of a payload is right, for any of the secrets. Vendors that sign more than the payload need
   * all headers of the delivery in place of the signature.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` without payload or signature
   */
  async verify(
    payload: string | Uint8Array,
    signature: string | HeaderReader | HeaderRecord,
  ): Promise<boolean> {
    const body = checkPayload(payload);
    if (signature === undefined || signature === null || signature === "") {
      throw argumentError("signature required");
    }
    const headers = this.#headersOf(signature, "", "");
    return (await this.#pipeline.verify({ headers, body })) !== undefined;
  }

  /**
   * Verifies a delivery and calls its handlers.
   *
   * @throws WebhookError `ERR_WEBHOOKS_SIGNATURE`, `ERR_WEBHOOKS_JSON`, and what `receive` throws; each goes to the error
   *   handlers too
   */
  async verifyAndReceive(delivery: Delivery): Promise<void> {
    const accepted = this.#pipeline.accept(this.#toRaw(delivery));
    const verified = isThenable(accepted) ? await accepted : accepted;
    await this.#pipeline.handle(verified);
  }

  /**
   * Verifies a delivery and returns its event, without calling handlers and without replay protection. Of a `Request` it
   * reads at most 25 MiB.
   *
   * @throws WebhookError `ERR_WEBHOOKS_SIGNATURE`, `ERR_WEBHOOKS_JSON`, and for a `Request` `ERR_WEBHOOKS_BODY_USED`,
   *   `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_BUDGET`
   */
  async verifyAndParse(delivery: Request | Delivery): Promise<AnyEvent<Events>> {
    const unverified = this.#pipeline.budget.open();
    try {
      const raw = isRequest(delivery)
        ? await this.#readRequest(delivery, unverified)
        : this.#toRaw(delivery);
      // The vendor's types say what its payloads are.
      return (await this.#pipeline.parse(raw)) as AnyEvent<Events>;
    } finally {
      unverified.close();
    }
  }

  /** @internal The way of a delivery, for receivers. */
  static pipelineOf<Events extends EventMap, Transformed>(
    webhooks: Webhooks<Events, Transformed>,
  ): DeliveryPipeline {
    return webhooks.#pipeline;
  }

  #headersOf(
    signature: string | HeaderReader | HeaderRecord,
    id: string,
    name: string,
  ): HeaderReader {
    if (typeof signature !== "string") return readHeaders(signature);
    const { scheme, eventHeader = "", deliveryHeader = "" } = this.vendor;
    return {
      get: (header) => {
        if (header === scheme.signatureHeader) return signature;
        if (header === eventHeader.toLowerCase()) return name;
        return header === deliveryHeader.toLowerCase() ? id : null;
      },
    };
  }

  #toRaw(delivery: Delivery): RawDelivery {
    const { payload } = delivery;
    if ("headers" in delivery) {
      const headers = readHeaders(delivery.headers);
      const kind = kindOf(headers.get("content-type")) ?? "json";
      return { headers, body: checkPayload(payload), kind };
    }
    const { id, name, signature } = delivery;
    const names = { id, name };
    if (!signature || payload === "" || payload === undefined) {
      throw this.#pipeline.dispatcher.fail(signatureError("signature", names));
    }
    return {
      headers: this.#headersOf(signature, id, name),
      body: checkPayload(payload),
      kind: "json",
      names,
    };
  }

  async #readRequest(request: Request, unverified: UnverifiedBody): Promise<RawDelivery> {
    const { headers, url } = request;
    if (this.vendor.scheme.faultOf(headers) !== undefined) {
      return { headers, body: new Uint8Array(0), kind: "json", url };
    }
    const limits = { maxBody: defaultMaxBody, timeout: Infinity };
    const body = await readWebBody(request, limits, unverified);
    unverified.settle();
    return { headers, body, kind: kindOf(headers.get("content-type")) ?? "json", url };
  }
}

function isRequest(delivery: Request | Delivery): delivery is Request {
  return "arrayBuffer" in delivery && "headers" in delivery;
}

/** An empty text counts as a missing one: it is what is left where a body was lost. */
function checkPayload(payload: unknown): string | Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  if (typeof payload === "string" && payload !== "") return payload;
  throw argumentError(
    payload === undefined || payload === null || payload === ""
      ? "payload required"
      : `payload is ${typeof payload}, expected the raw body as bytes or text`,
  );
}

function argumentError(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", message);
}
