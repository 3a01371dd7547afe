import type { Logger } from "@fetchwork/kit";
import { checkDuration, checkOptions } from "../check-options.ts";
import { optionError, WebhookError } from "../errors.ts";
import type { UntypedEvent } from "../event-map.ts";
import type { HeaderReader } from "../headers.ts";
import { oneLine } from "../logger.ts";
import type { SignatureKey, SignedMessage } from "../schemes/signature-scheme.ts";
import type { Vendor } from "../vendors/define-vendor.ts";
import { memoryReplayStore } from "./memory-replay-store.ts";
import type { ReplayOptions } from "./replay-store.ts";

/** A delivery's claim in a replay store. Its methods log failures, never reject. */
export interface ReplayMark {
  /** Remembers the delivery as handled. */
  complete(): Promise<void>;
  /** Forgets the delivery, because it was not handled: the next one with its identifier is new. */
  release(): Promise<void>;
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
    message: SignedMessage,
    signatureKey: SignatureKey,
  ): Promise<ReplayMark | "duplicate" | "stored" | undefined>;
}

/**
 * Makes the guard that has each delivery handled once, by the rules of {@link ReplayOptions}. Warns
 * where replay protection can have no effect. A handshake is never a duplicate: its sender waits
 * for the response.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`; `claim` throws WebhookError
 *   `ERR_WEBHOOKS_RUNNING`, `ERR_WEBHOOKS_REPLAY_STORE`
 */
export function createReplayGuard(
  options: ReplayOptions,
  vendor: Vendor,
  log: Logger,
): DeliveryGuard {
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

  async function change(make: () => void | Promise<void>): Promise<void> {
    try {
      await make();
    } catch (error) {
      log.error("the replay store of webhooks failed", error);
    }
  }

  /** Makes the mark of a claim, and renews the claim until the mark is settled. */
  function markOf(key: string, age: number): ReplayMark {
    const renew = (): void => void change(() => store.renew?.(key, lease));
    const renewal = store.renew && setInterval(renew, Math.min(lease, 2_147_483_647) / 3);
    (Object(renewal) as { unref?: () => void }).unref?.(); // It keeps no process of Node running.
    const settle = (make: () => void | Promise<void>): Promise<void> => {
      clearInterval(renewal);
      return change(make);
    };
    return {
      complete: () => settle(() => store.complete(key, age)),
      release: () => settle(() => store.release(key)),
    };
  }

  return {
    async claim(event, { headers, body }, signatureKey) {
      const id = signedIdOf(vendor, event, headers);
      const age = id ? keepFor : dropEqualBodiesFor;
      if (age === undefined || vendor.handshakeResponse?.(event.payload) !== undefined) {
        return undefined;
      }
      const fingerprint = await signatureKey.fingerprint(id ? "id:" : "body:", id || body);
      // 256 bits are enough, and stores limit the length of keys.
      const key = `${name}:${fingerprint.slice(0, 64)}`;
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
      if (state === "new") return markOf(key, age);
      const proof = id ? "its signed identifier" : "an equal body";
      log.warn(
        `${oneLine(event.name)} event dropped (id: ${oneLine(event.id)}): ${proof} was handled before`,
      );
      return "duplicate";
    },
  };
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
