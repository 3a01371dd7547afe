import { WebhookError } from "../errors.ts";
import type { EventDispatcher } from "../dispatch/dispatcher.ts";
import type { UnknownPayload, UntypedEvent } from "../event-map.ts";
import { parseBody } from "./parse-body.ts";
import type { ReplaySettings } from "./replay-guard.ts";
import type { ReplayStore } from "./replay-store.ts";
import type { SecretRing } from "./secret-ring.ts";
import type {
  HeaderReader,
  MaybePromise,
  SignatureKey,
  SignedMessage,
} from "../schemes/signature-scheme.ts";
import { chain, isThenable } from "../thenable.ts";
import type { UnverifiedBudget } from "./unverified-budget.ts";
import type { BodyKind, DeliveryNames, Vendor } from "../vendors/define-vendor.ts";

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
  /** Its mark in the replay store; `undefined` when it has none. */
  readonly mark: ReplayMark | undefined;
  /** Whether it was handled before, and is dropped. */
  readonly isRepetition: boolean;
}

/** How a delivery is remembered. */
interface ReplayMark {
  readonly key: string;
  /** Milliseconds for which it is remembered once it is handled. */
  readonly keepFor: number;
}

/** What a {@link DeliveryPipeline} works with. */
export interface PipelineSettings {
  readonly vendor: Vendor;
  readonly ring: SecretRing;
  readonly dispatcher: EventDispatcher;
  readonly replay: ReplaySettings | undefined;
  /** Bounds what is kept of bodies before they are verified. */
  readonly budget: UnverifiedBudget;
}

/** The way of a delivery: verify, read, claim, handle. Errors are thrown, after the error handlers have been told. */
export class DeliveryPipeline {
  readonly vendor: Vendor;
  readonly dispatcher: EventDispatcher;
  readonly ring: SecretRing;
  readonly budget: UnverifiedBudget;
  readonly #replay: PipelineSettings["replay"];

  constructor({ vendor, ring, dispatcher, replay, budget }: PipelineSettings) {
    this.vendor = vendor;
    this.ring = ring;
    this.dispatcher = dispatcher;
    this.budget = budget;
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
        const identity =
          key === undefined || reply !== undefined ? undefined : this.#identityOf(raw, event);
        if (key === undefined || identity === undefined) {
          return { event, reply, mark: undefined, isRepetition: false };
        }
        return this.#claim(event, key, identity);
      }),
    );
  }

  /**
   * Keeps room for an accepted delivery that is handled later; call what it returns just before. When there is none, it
   * throws and gives the delivery back.
   */
  admit(verified: VerifiedDelivery): () => void {
    try {
      return this.dispatcher.admit(verified.event);
    } catch (error) {
      this.giveBack(verified);
      throw error;
    }
  }

  /** Gives an accepted delivery back that is not handled, so that the next one of it is new. */
  giveBack({ mark }: VerifiedDelivery): void {
    if (mark !== undefined) void this.#tryStore(() => this.#replay?.store.release(mark.key));
  }

  /**
   * Runs the handlers of an accepted delivery.
   *
   * @param onFailure - Called as soon as they have failed, before the replay store is told, which may take its time.
   */
  handle(
    { event, mark, isRepetition, reply }: VerifiedDelivery,
    onFailure?: (error: unknown) => void,
  ): MaybePromise<void> | undefined {
    if (isRepetition) return undefined;
    // A handshake is no event, unless somebody listens for it.
    if (reply !== undefined && event.name === "") return undefined;
    const replay = this.#replay;
    if (mark === undefined || replay === undefined) return this.dispatcher.dispatch(event);
    return this.#handleOnce(event, mark, { store: replay.store, onFailure });
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

  /** What proves that a delivery is the same as another one; `undefined` when nothing does. */
  #identityOf({ headers, body }: RawDelivery, { payload }: UntypedEvent): Identity | undefined {
    if (this.#replay === undefined) return undefined;
    const { keepFor, dropEqualBodiesFor } = this.#replay;
    const { scheme, signedId } = this.vendor;
    const id = scheme.signedId?.(headers) || signedId?.(payload);
    if (id) return { label: "id:", content: id, keepFor };
    return dropEqualBodiesFor === undefined
      ? undefined
      : { label: "body:", content: body, keepFor: dropEqualBodiesFor };
  }

  async #claim(
    event: UntypedEvent,
    signatureKey: SignatureKey,
    { label, content, keepFor }: Identity,
  ): Promise<VerifiedDelivery> {
    const replay = this.#replay;
    if (replay === undefined) throw new TypeError("there is no replay store");
    const fingerprint = await signatureKey.fingerprint(label, content);
    // 256 bits are enough, and the key of a store has its limits.
    const key = `${this.vendor.name}:${fingerprint.slice(0, 64)}`;
    let state;
    try {
      state = await replay.store.claim(key, replay.lease);
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
    if (state === "new") {
      return { event, reply: undefined, mark: { key, keepFor }, isRepetition: false };
    }
    const proof = label === "id:" ? "its signed identifier" : "an equal body";
    this.dispatcher.log.warn(
      `${oneLine(event.name)} event dropped (id: ${oneLine(event.id)}): ${proof} was handled before`,
    );
    replay.onRepetition(event);
    return { event, reply: undefined, mark: undefined, isRepetition: true };
  }

  async #handleOnce(
    event: UntypedEvent,
    { key, keepFor }: ReplayMark,
    {
      store,
      onFailure,
    }: {
      readonly store: ReplayStore;
      readonly onFailure: ((error: unknown) => void) | undefined;
    },
  ): Promise<void> {
    try {
      await this.dispatcher.dispatch(event);
    } catch (error) {
      onFailure?.(error);
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

interface Identity {
  readonly label: "id:" | "body:";
  readonly content: string | Uint8Array;
  readonly keepFor: number;
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
