import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { WebhookError, withEvent } from "../errors.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import type { HeaderReader } from "../headers.ts";
import type { SignatureKey, SignedMessage } from "../schemes/signature-scheme.ts";
import type { BodyKind } from "../body-kind.ts";
import type { DeliveryNames, Vendor } from "../vendors/define-vendor.ts";
import type { FindKeys } from "./find-keys.ts";
import { parseBody } from "./parse-body.ts";
import type { DeliveryGuard, ReplayMark } from "./replay-guard.ts";

/** A delivery as it was received, with its whole body. */
export interface RawDelivery extends SignedMessage {
  readonly kind: BodyKind;
  /** Identifier and name, where neither headers nor body contain them. */
  readonly names?: DeliveryNames | undefined;
}

/** A delivery that is verified, parsed and claimed. */
export interface AcceptedDelivery {
  readonly event: UntypedEvent;
  /** The text to respond with, when the delivery is a handshake. */
  readonly handshake: string | undefined;
  /** Its claim in the replay store; `undefined` when it has none. */
  readonly mark: ReplayMark | undefined;
  /** `"duplicate"`: handled before; `"stored"`: handled later. Neither may be handled now. */
  readonly state: "new" | "duplicate" | "stored";
}

/** Takes a delivery from bytes to handlers: verifies, parses, claims its mark, dispatches. */
export class DeliveryProcessor {
  readonly vendor: Vendor;
  readonly dispatcher: Dispatcher;
  readonly findKeys: FindKeys;
  readonly #guard: DeliveryGuard | undefined;

  constructor(
    vendor: Vendor,
    dispatcher: Dispatcher,
    findKeys: FindKeys,
    guard: DeliveryGuard | undefined,
  ) {
    this.vendor = vendor;
    this.dispatcher = dispatcher;
    this.findKeys = findKeys;
    this.#guard = guard;
  }

  /** Finds the key that a message was signed with. */
  async verify(raw: Omit<RawDelivery, "kind">): Promise<SignatureKey | undefined> {
    const { headers, body, names, url } = raw;
    if (this.vendor.scheme.checkHeaders(headers) !== undefined) return undefined;
    const context = { ...(names ?? this.namesOf(headers)), headers, url };
    for (const key of await this.findKeys(context)) {
      if (await key.verify({ headers, body, url })) return key;
    }
    return undefined;
  }

  /** Verifies and parses; ignores the replay store. */
  async parse(raw: RawDelivery): Promise<UntypedEvent> {
    await this.#keyOf(raw);
    return this.#readEvent(raw);
  }

  /** Verifies, parses and claims. */
  async accept(raw: RawDelivery): Promise<AcceptedDelivery> {
    const key = await this.#keyOf(raw);
    const event = this.#readEvent(raw);
    const handshake = this.vendor.handshakeResponse?.(event.payload);
    const claim = await this.#guard?.claim(event, raw, key);
    return typeof claim === "string"
      ? { event, handshake, mark: undefined, state: claim }
      : { event, handshake, mark: claim, state: "new" };
  }

  /**
   * Runs the handlers of an accepted delivery, and settles its replay mark.
   *
   * @param onFailure - Called as soon as handlers have failed, before the replay store is updated,
   * which may take a while.
   * @throws WebhookReceiveError
   */
  async run(
    { event, mark, state }: AcceptedDelivery,
    onFailure?: (error: unknown) => void,
  ): Promise<void> {
    if (state !== "new") return;
    try {
      await this.dispatcher.dispatch(event);
    } catch (error) {
      onFailure?.(error);
      await mark?.release();
      throw error;
    }
    await mark?.complete();
  }

  /** Calls the error listeners with a failure of a delivery, and returns it. */
  report(error: unknown): unknown {
    return error instanceof WebhookError ? this.dispatcher.report(error) : error;
  }

  /** Reads identifier and name from headers, unverified. */
  namesOf(headers: HeaderReader): DeliveryNames {
    const { deliveryHeader, eventHeader } = this.vendor;
    return { id: valueOf(headers, deliveryHeader), name: valueOf(headers, eventHeader) };
  }

  /** Reads the event of a verified delivery. */
  #readEvent(raw: RawDelivery): UntypedEvent {
    const known = raw.names ?? this.namesOf(raw.headers);
    let payload: UnknownPayload;
    try {
      payload = parseBody(raw.body, raw.kind);
    } catch (error) {
      throw error instanceof WebhookError ? withEvent(error, known) : error;
    }
    const { id, name } = raw.names ?? this.vendor.describe?.(raw.headers, payload) ?? known;
    if (!name) {
      const event = { id, name, payload };
      throw new WebhookError("ERR_WEBHOOKS_EVENT", "Event name not passed", { status: 400, event });
    }
    return { id, name, payload };
  }

  /** Finds the key that a delivery was signed with, or throws. */
  async #keyOf(raw: RawDelivery): Promise<SignatureKey> {
    const key = await this.verify(raw);
    if (key !== undefined) return key;
    const { headers, names = this.namesOf(headers) } = raw;
    const isLate = this.vendor.scheme.checkHeaders(headers) === "timestamp";
    throw signatureError(isLate ? "timestamp" : "signature", names);
  }
}

/** Makes the error for a delivery that cannot be verified. */
export function signatureError(
  fault: "signature" | "timestamp",
  names: DeliveryNames,
): WebhookError {
  const message =
    fault === "signature"
      ? "signature does not match event payload and secret"
      : "timestamp is too far from now";
  return new WebhookError("ERR_WEBHOOKS_SIGNATURE", `[@fetchwork/webhooks] ${message}`, {
    status: 400,
    event: names,
  });
}

function valueOf(headers: HeaderReader, name: string | undefined): string {
  return name === undefined ? "" : (headers.get(name.toLowerCase()) ?? "");
}
