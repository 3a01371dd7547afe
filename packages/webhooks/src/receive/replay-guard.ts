import type { Logger } from "@fetchwork/kit";
import { checkDuration, checkOptions } from "../check-options.ts";
import { optionError, WebhookError } from "../errors.ts";
import type { UntypedEvent } from "../event-map.ts";
import type { HeaderReader } from "../headers.ts";
import { oneLine } from "../logger.ts";
import type { SignatureKey } from "../schemes/signature-scheme.ts";
import type { Vendor } from "../vendors/define-vendor.ts";
import { memoryReplayStore } from "./memory-replay-store.ts";
import type { ReplayOptions, ReplayStore } from "./replay-store.ts";

/** A delivery's claim in a replay store. Its methods log failures, never reject. */
export interface ReplayMark {
  /** Remembers the delivery as handled. */
  complete(): Promise<void>;
  /** Forgets the delivery, because it was not handled: the next one with its identifier is new. */
  release(): Promise<void>;
}

/** The parts of a delivery that may identify it. */
export interface Message {
  readonly headers: HeaderReader;
  readonly body: string | Uint8Array;
}

/** Decides what becomes of verified deliveries. */
export interface DeliveryGuard {
  /**
   * Claims a verified delivery. Resolves to its mark, or to `"duplicate"` when it was handled
   * before; `undefined` when nothing identifies it. `"stored"`: it is kept, and handled later, so
   * that no handler runs now.
   */
  claim(
    event: UntypedEvent,
    message: Message,
    signatureKey: SignatureKey,
  ): Promise<ReplayMark | "duplicate" | "stored" | undefined>;
}

/** Proof that two deliveries are the same. */
interface Identity {
  readonly label: "id:" | "body:";
  readonly content: string | Uint8Array;
  /** Milliseconds for which the delivery is remembered once it is handled. */
  readonly keepFor: number;
}

/** Handles each delivery once, by the rules of {@link ReplayOptions}. */
export class ReplayGuard implements DeliveryGuard {
  readonly #vendor: Vendor;
  readonly #log: Logger;
  readonly #replay: ReplayOptions & { store: ReplayStore; keepFor: number; lease: number };

  /**
   * Warns where replay protection can have no effect.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
   */
  constructor(options: ReplayOptions, vendor: Vendor, log: Logger) {
    checkOptions("replay", options, ["store", "keepFor", "lease", "dropEqualBodiesFor"]);
    const { store = memoryReplayStore(), keepFor = 86_400_000, lease = 60_000 } = options;
    const { dropEqualBodiesFor } = options;
    checkAge("replay.keepFor", keepFor);
    checkDuration("replay.lease", lease);
    if (typeof store?.claim !== "function") throw optionError("replay.store", store, "a store");
    const { name, scheme, signedId } = vendor;
    if (dropEqualBodiesFor !== undefined) {
      checkAge("replay.dropEqualBodiesFor", dropEqualBodiesFor);
      if (scheme.signedId !== undefined) {
        const expected = `nothing with ${scheme.name}, which signs an identifier`;
        throw optionError("replay.dropEqualBodiesFor", dropEqualBodiesFor, expected);
      }
    } else if (scheme.signedId === undefined && signedId === undefined) {
      log.warn(
        `replay protection has no effect for the vendor ${name}, which signs no identifier: ` +
          "every delivery is handled, unless dropEqualBodiesFor is set",
      );
    }
    this.#vendor = vendor;
    this.#log = log;
    this.#replay = { store, keepFor, lease, dropEqualBodiesFor };
  }

  /**
   * See {@link DeliveryGuard}. A handshake is never a duplicate: its sender waits for the response.
   *
   * @throws WebhookError `ERR_WEBHOOKS_RUNNING`, `ERR_WEBHOOKS_REPLAY_STORE`
   */
  async claim(
    event: UntypedEvent,
    message: Message,
    signatureKey: SignatureKey,
  ): Promise<ReplayMark | "duplicate" | undefined> {
    const identity = this.#identityOf(event, message);
    const isHandshake = this.#vendor.handshakeResponse?.(event.payload) !== undefined;
    if (identity === undefined || isHandshake) return undefined;
    const { label, content, keepFor } = identity;
    const fingerprint = await signatureKey.fingerprint(label, content);
    // 256 bits are enough, and stores limit the length of keys.
    const key = `${this.#vendor.name}:${fingerprint.slice(0, 64)}`;
    const { store, lease } = this.#replay;
    let state;
    try {
      state = await store.claim(key, lease);
    } catch (cause) {
      const message = "the replay store failed";
      throw new WebhookError("ERR_WEBHOOKS_REPLAY_STORE", message, { cause, event, status: 503 });
    }
    if (state === "running") {
      const message = "this delivery is being handled";
      throw new WebhookError("ERR_WEBHOOKS_RUNNING", message, { event, status: 409 });
    }
    if (state !== "new") {
      const proof = label === "id:" ? "its signed identifier" : "an equal body";
      this.#log.warn(
        `${oneLine(event.name)} event dropped (id: ${oneLine(event.id)}): ${proof} was handled before`,
      );
      return "duplicate";
    }
    const renew = (): void => void this.#change(() => store.renew?.(key, lease));
    const renewal = store.renew && setInterval(renew, Math.min(lease, 2_147_483_647) / 3);
    (Object(renewal) as { unref?: () => void }).unref?.(); // It keeps no process of Node running.
    const stop = (): void => clearInterval(renewal);
    return {
      complete: () => this.#change(() => store.complete(key, keepFor), stop),
      release: () => this.#change(() => store.release(key), stop),
    };
  }

  #identityOf(event: UntypedEvent, { headers, body }: Message): Identity | undefined {
    const id = signedIdOf(this.#vendor, event, headers);
    const { keepFor, dropEqualBodiesFor: age } = this.#replay;
    if (id) return { label: "id:", content: id, keepFor };
    return age === undefined ? undefined : { label: "body:", content: body, keepFor: age };
  }

  async #change(change: () => void | Promise<void>, stop?: () => void): Promise<void> {
    stop?.();
    try {
      await change();
    } catch (error) {
      this.#log.error("the replay store of webhooks failed", error);
    }
  }
}

/** Reads the signed identifier of a verified delivery; `undefined` or `""` if none. */
export function signedIdOf(
  { scheme, signedId }: Vendor,
  { payload }: UntypedEvent,
  headers: HeaderReader,
): string | undefined {
  return scheme.signedId?.(headers) || signedId?.(payload);
}

function checkAge(name: string, value: unknown): void {
  if (typeof value === "number" && value > 0 && value !== Infinity) return;
  throw optionError(name, value, "milliseconds");
}
