import { BodyBudget } from "@fetchwork/kit";
import { checkInteger, checkOptions } from "../check-options.ts";
import { handlerOptionNames } from "../dispatch/event-handler-options.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { createHandling, type EventHandler } from "../dispatch/event-handler.ts";
import { bodyError, WebhookUsageError } from "../errors.ts";
import type { AnyEvent, EventMap } from "../event-map.ts";
import { type HeaderReader, type HeaderRecord, readHeaders } from "../headers.ts";
import type { MessageToSign } from "../schemes/signature-scheme.ts";
import type { Vendor } from "../vendors/define-vendor.ts";
import type { VendorEvents } from "../vendors/vendor-events.ts";
import {
  type AcceptedDelivery,
  DeliveryProcessor,
  type RawDelivery,
  signatureError,
} from "./delivery-processor.ts";
import { createFindKeys } from "./find-keys.ts";
import { bodyKindOf } from "../body-kind.ts";
import { readWebBody } from "./read-web-body.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import { createReceiver, type Receiver } from "./receiver.ts";
import { createReplayGuard, type DeliveryGuard } from "./replay-guard.ts";
import { UnverifiedBody } from "./unverified-body.ts";
import type { DeliveryContext, WebhooksOptions } from "./webhooks-options.ts";

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
      /** Public URL with its query, for vendors that sign it. */
      readonly url?: string | undefined;
    };

/** Details that some vendors sign in addition to the payload. */
interface SignDetails {
  /** Identifier of the delivery. Default: a random one. */
  readonly id?: string | undefined;
  /** Seconds since 1970. Default: now. */
  readonly timestamp?: number | undefined;
  /** Public URL of the receiver, for vendors that sign it. */
  readonly url?: string | undefined;
}

/** Bytes of a `Request` that `verifyAndParse` reads. */
const maxParsed = 26_214_400;

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
  /** The platform that sends. */
  readonly vendor: Vendor<Events>;
  /** Adds a handler for a name or several. See {@link EventHandler}. */
  readonly on: EventHandler<Events, Transformed>["on"];
  /** Adds a handler for every event. See {@link EventHandler}. */
  readonly onAny: EventHandler<Events, Transformed>["onAny"];
  /** Adds a listener of failures. See {@link EventHandler}. */
  readonly onError: EventHandler<Events, Transformed>["onError"];
  /** Removes the most recent registration of a handler. See {@link EventHandler}. */
  readonly removeListener: EventHandler<Events, Transformed>["removeListener"];
  /** Calls handlers without verifying anything. See {@link EventHandler}. */
  readonly receive: EventHandler<Events, Transformed>["receive"];
  /** Calls the handlers. */
  protected readonly dispatcher: Dispatcher;
  readonly #processor: DeliveryProcessor;
  readonly #budget: BodyBudget;

  /**
   * @param guard - Of a subclass: decides what becomes of deliveries, in the place of `replay`.
   * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET`
   */
  constructor(options: WebhooksOptions<Events, Transformed>, guard?: DeliveryGuard) {
    const { secret, additionalSecrets = [], replay = false } = options ?? {};
    const { maxUnverified = 67_108_864 } = options ?? {};
    if (secret === undefined || secret === null || secret === "") {
      throw new WebhookUsageError("ERR_WEBHOOKS_OPTION", secretRequired);
    }
    checkOptions("Webhooks", options, [
      ...handlerOptionNames,
      "secret",
      "additionalSecrets",
      "replay",
      "maxUnverified",
    ]);
    const { vendor, handler, dispatcher } = createHandling(options);
    checkInteger("maxUnverified", maxUnverified, 1);
    this.#budget = new BodyBudget(maxUnverified);
    this.#processor = new DeliveryProcessor(
      vendor,
      dispatcher,
      createFindKeys(vendor.scheme, secret, additionalSecrets),
      replay === false
        ? guard
        : createReplayGuard(replay === true ? {} : replay, vendor, dispatcher.log),
    );
    this.dispatcher = dispatcher;
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
   * Signs a payload with the first secret. Resolves to the value of the signature header.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` without a payload
   */
  async sign(payload: string | Uint8Array, details: SignDetails = {}): Promise<string> {
    const { id = crypto.randomUUID(), timestamp = Math.floor(Date.now() / 1000) } = details;
    const { url } = details;
    const message = { id, timestamp, body: checkPayload(payload), url };
    const headers = await this.#sign(message, { id, name: "", headers: new Headers(), url });
    // A scheme signs with this header.
    return headers[this.vendor.scheme.signatureHeader] ?? "";
  }

  /**
   * Tells whether a signature of a payload is valid for any of the secrets. Vendors that sign more
   * than the payload need all headers of the delivery instead of the signature. Vendors that sign
   * the URL also need the public URL with its query.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_ARGUMENT` without payload or signature
   */
  async verify(
    payload: string | Uint8Array,
    signature: string | HeaderReader | HeaderRecord,
    url?: string,
  ): Promise<boolean> {
    const body = checkPayload(payload);
    if (signature === undefined || signature === null || signature === "") {
      throw argumentError("signature required");
    }
    const headers = this.#headersOf(signature, "", "");
    return (await this.#processor.verify({ headers, body, url })) !== undefined;
  }

  /**
   * Verifies a delivery and calls its handlers.
   *
   * @throws WebhookError `ERR_WEBHOOKS_SIGNATURE`, `ERR_WEBHOOKS_JSON`, and what `receive` throws;
   *   the error listeners are called with each of them too
   */
  async verifyAndReceive(delivery: Delivery): Promise<void> {
    let accepted: AcceptedDelivery;
    try {
      accepted = await this.#processor.accept(this.#toRaw(delivery));
    } catch (error) {
      throw this.#processor.report(error);
    }
    await this.#processor.run(accepted);
  }

  /**
   * Verifies a delivery and returns its event, without calling handlers and without replay
   * protection. Reads at most 25 MiB of a `Request`, whose URL must be the public one where the
   * vendor signs it.
   *
   * @throws WebhookError `ERR_WEBHOOKS_SIGNATURE`, `ERR_WEBHOOKS_JSON`, and for a `Request`
   *   `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_BUDGET`
   */
  async verifyAndParse(delivery: Request | Delivery): Promise<AnyEvent<Events>> {
    if (!isRequest(delivery)) return this.#parse(delivery);
    const { headers, url } = delivery;
    const unverified = new UnverifiedBody(this.#budget, maxParsed, Infinity);
    try {
      const canVerify = this.vendor.scheme.checkHeaders(headers) === undefined;
      if (canVerify && Number(headers.get("content-length") ?? 0) > maxParsed) {
        throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
      }
      const payload = canVerify ? await readWebBody(delivery, unverified) : new Uint8Array(0);
      unverified.settle();
      return await this.#parse({ payload, headers, url });
    } finally {
      unverified.close();
    }
  }

  /** @internal Makes a receiver. */
  static createReceiver<Events extends EventMap, Transformed>(
    webhooks: Webhooks<Events, Transformed>,
    options: ReceiverOptions,
  ): Receiver {
    return createReceiver(webhooks.#processor, webhooks.#budget, options);
  }

  /** @internal Signs a request's message by the first secret. Resolves to the headers. */
  static signRequest<Events extends EventMap, Transformed>(
    webhooks: Webhooks<Events, Transformed>,
    message: MessageToSign,
    { headers, url }: Request,
  ): Promise<Readonly<Record<string, string>>> {
    const names = webhooks.#processor.namesOf(headers);
    return webhooks.#sign(message, { ...names, headers, url });
  }

  async #sign(
    message: MessageToSign,
    context: DeliveryContext,
  ): Promise<Readonly<Record<string, string>>> {
    const [key] = await this.#processor.findKeys(context);
    if (key === undefined) throw argumentError("there is no secret to sign with");
    return key.sign(message);
  }

  async #parse(delivery: Delivery): Promise<AnyEvent<Events>> {
    try {
      const event = await this.#processor.parse(this.#toRaw(delivery));
      // The vendor's types describe its payloads.
      return event as AnyEvent<Events>;
    } catch (error) {
      throw this.#processor.report(error);
    }
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
      const kind = bodyKindOf(headers.get("content-type")) ?? "json";
      return { headers, body: checkPayload(payload), kind, url: delivery.url };
    }
    const { id, name, signature } = delivery;
    const names = { id, name };
    if (!signature || payload === "" || payload === undefined) {
      throw signatureError("signature", names);
    }
    const headers = this.#headersOf(signature, id, name);
    return { headers, body: checkPayload(payload), kind: "json", names };
  }
}

const secretRequired =
  "options.secret required: without it no signature can be verified. " +
  "Set the variable from which you read it, such as WEBHOOK_SECRET, to the secret that you gave the sender";

function isRequest(delivery: Request | Delivery): delivery is Request {
  return "arrayBuffer" in delivery && "headers" in delivery;
}

/** Refuses an empty text like a missing payload: that is what remains of a lost body. */
function checkPayload(payload: unknown): string | Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  if (typeof payload === "string" && payload !== "") return payload;
  throw argumentError(
    payload === undefined || payload === null || payload === ""
      ? "payload required"
      : `payload must be the raw body as bytes or text, got ${typeof payload}`,
  );
}

function argumentError(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", message);
}
