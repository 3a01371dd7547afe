import { WebhookError } from "./errors.ts";
import type { EventDispatcher } from "./event-dispatcher.ts";
import type { UnknownPayload, UntypedEvent } from "./event-map.ts";
import { parseBody } from "./parse-body.ts";
import type { ReplayStore } from "./replay-store.ts";
import type { SecretRing } from "./secret-ring.ts";
import type {
  HeaderReader,
  MaybePromise,
  SignatureKey,
  SignedMessage,
} from "./signature-scheme.ts";
import { chain, isThenable } from "./thenable.ts";
import type { BodyKind, DeliveryNames, Vendor } from "./vendor.ts";

/** A delivery as it came, with its whole body. */
export interface RawDelivery {
  readonly headers: HeaderReader;
  readonly body: string | Uint8Array;
  readonly kind: BodyKind;
  /** Identifier and name, where they do not come from headers or body. */
  readonly names?: DeliveryNames | undefined;
  readonly url?: string | undefined;
}

/** A delivery that is verified and read. */
export interface VerifiedDelivery {
  readonly event: UntypedEvent;
  /** What to answer instead of `ok`, for handshakes. */
  readonly reply: string | undefined;
  /** Key in the replay store; `undefined` without replay protection. */
  readonly replayKey: string | undefined;
  /** Whether its handlers have run before. */
  readonly isDuplicate: boolean;
}

/** What a {@link DeliveryPipeline} works with. */
export interface PipelineSettings {
  readonly vendor: Vendor;
  readonly ring: SecretRing;
  readonly dispatcher: EventDispatcher;
  readonly replay:
    { readonly store: ReplayStore; readonly keepFor: number; readonly lease: number } | undefined;
}

/** The way of a delivery: verify, read, claim, handle. Errors are thrown, after the error handlers have been told. */
export class DeliveryPipeline {
  readonly vendor: Vendor;
  readonly dispatcher: EventDispatcher;
  readonly ring: SecretRing;
  readonly #replay: PipelineSettings["replay"];

  constructor({ vendor, ring, dispatcher, replay }: PipelineSettings) {
    this.vendor = vendor;
    this.ring = ring;
    this.dispatcher = dispatcher;
    this.#replay = replay;
  }

  /** Identifier and name as far as the headers say them; nothing of it is verified. */
  namesOf(headers: HeaderReader): DeliveryNames {
    const { deliveryHeader, eventHeader } = this.vendor;
    return { id: valueOf(headers, deliveryHeader), name: valueOf(headers, eventHeader) };
  }

  /** Finds the key that a message was signed with. */
  verify({
    headers,
    body,
    names,
    url,
  }: Omit<RawDelivery, "kind">): MaybePromise<SignatureKey | undefined> {
    if (this.vendor.scheme.faultOf(headers) !== undefined) return undefined;
    const context = { ...(names ?? this.namesOf(headers)), headers, url };
    return chain(this.ring(context), (keys) => findKey(keys, 0, { headers, body }));
  }

  /** Verifies and reads; does not ask the replay store. */
  parse(raw: RawDelivery): MaybePromise<UntypedEvent> {
    return this.#telling(() => chain(this.verify(raw), (key) => this.#read(raw, key)));
  }

  /** Verifies, reads and claims. */
  accept(raw: RawDelivery): MaybePromise<VerifiedDelivery> {
    return this.#telling(() =>
      chain(this.verify(raw), (key) => {
        const event = this.#read(raw, key);
        const reply = this.vendor.replyTo?.(event.payload);
        if (this.#replay === undefined || key === undefined || reply !== undefined) {
          return { event, reply, replayKey: undefined, isDuplicate: false };
        }
        return this.#claim(raw, key, event);
      }),
    );
  }

  /**
   * Keeps room for an accepted delivery that is handled later; call what it returns just before. When there is none, it
   * throws and gives the delivery back.
   */
  admit({ event, replayKey, isDuplicate }: VerifiedDelivery): () => void {
    try {
      return this.dispatcher.admit(event);
    } catch (error) {
      if (replayKey !== undefined && !isDuplicate) {
        void this.#tryStore(() => this.#replay?.store.release(replayKey));
      }
      throw error;
    }
  }

  /** Runs the handlers of an accepted delivery. */
  handle({
    event,
    replayKey,
    isDuplicate,
    reply,
  }: VerifiedDelivery): MaybePromise<void> | undefined {
    if (isDuplicate) {
      this.dispatcher.log.debug(`${oneLine(event.name)} event received again, not handled`);
      return undefined;
    }
    // A handshake is no event, unless somebody listens for it.
    if (reply !== undefined && event.name === "") return undefined;
    const replay = this.#replay;
    if (replayKey === undefined || replay === undefined) return this.dispatcher.dispatch(event);
    return this.#handleOnce(event, replayKey, replay);
  }

  #read(raw: RawDelivery, key: SignatureKey | undefined): UntypedEvent {
    const { scheme, describe } = this.vendor;
    const known = raw.names ?? this.namesOf(raw.headers);
    if (key === undefined) {
      const isLate = scheme.faultOf(raw.headers) === "timestamp";
      throw signatureError(isLate ? "timestamp" : "signature", known);
    }
    let payload: UnknownPayload;
    try {
      payload = parseBody(raw.body, raw.kind);
    } catch (error) {
      throw error instanceof WebhookError ? withEvent(error, known) : error;
    }
    const names = raw.names ?? describe?.(raw.headers, payload) ?? known;
    if (!names.name) {
      throw new WebhookError("ERR_WEBHOOKS_EVENT", "Event name not passed", {
        status: 400,
        event: { ...names, payload },
      });
    }
    return { id: names.id, name: names.name, payload };
  }

  async #claim(
    { headers, body }: RawDelivery,
    key: SignatureKey,
    event: UntypedEvent,
  ): Promise<VerifiedDelivery> {
    const replay = this.#replay;
    if (replay === undefined) throw new TypeError("there is no replay store");
    const replayKey = `${this.vendor.name}:${await key.fingerprint({ headers, body })}`;
    let state;
    try {
      state = await replay.store.claim(replayKey, replay.lease);
    } catch (cause) {
      throw new WebhookError("ERR_WEBHOOKS_REPLAY_STORE", "the replay store failed", {
        cause,
        event,
        status: 503,
      });
    }
    if (state === "running") {
      throw new WebhookError("ERR_WEBHOOKS_RUNNING", "this delivery is being handled", {
        event,
        status: 409,
      });
    }
    return { event, reply: undefined, replayKey, isDuplicate: state === "done" };
  }

  async #handleOnce(
    event: UntypedEvent,
    key: string,
    { store, keepFor }: NonNullable<PipelineSettings["replay"]>,
  ): Promise<void> {
    try {
      await this.dispatcher.dispatch(event);
    } catch (error) {
      await this.#tryStore(() => store.release(key));
      throw error;
    }
    // The work is done: should this fail, a redelivery is handled again, which the log tells.
    await this.#tryStore(() => store.complete(key, keepFor));
  }

  async #tryStore(change: () => MaybePromise<void> | undefined): Promise<void> {
    try {
      await change();
    } catch (error) {
      this.dispatcher.log.error("the replay store of webhooks failed", error);
    }
  }

  /** Tells the error handlers of what goes wrong before handlers run. */
  #telling<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    const tell = (error: unknown): never => {
      throw error instanceof WebhookError ? this.dispatcher.fail(error) : error;
    };
    let result: MaybePromise<T>;
    try {
      result = work();
    } catch (error) {
      return tell(error);
    }
    return isThenable(result) ? result.then(undefined, tell) : result;
  }
}

/** The error for a delivery that cannot be verified. */
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

/** What a text from outside looks like in a line of a log. */
export function oneLine(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, "?");
}

function findKey(
  keys: readonly SignatureKey[],
  start: number,
  message: SignedMessage,
): MaybePromise<SignatureKey | undefined> {
  for (let index = start; index < keys.length; index += 1) {
    const key = keys[index];
    const isRight = key?.verify(message);
    if (isRight === true) return key;
    if (isThenable(isRight)) {
      return isRight.then((is) => (is ? key : findKey(keys, index + 1, message)));
    }
  }
  return undefined;
}

function withEvent(error: WebhookError, event: DeliveryNames): WebhookError {
  const { status, errors } = error;
  return new WebhookError(error.code, error.message, { status, errors, event });
}

function valueOf(headers: HeaderReader, name: string | undefined): string {
  return name === undefined ? "" : (headers.get(name.toLowerCase()) ?? "");
}
