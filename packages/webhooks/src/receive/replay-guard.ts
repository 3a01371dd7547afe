import { checkDuration } from "../check-amount.ts";
import { optionError } from "../errors.ts";
import type { UntypedEvent } from "../event-map.ts";
import { guardedListener } from "../guarded-listener.ts";
import type { Logger } from "../logger.ts";
import { memoryReplayStore } from "./memory-replay-store.ts";
import { checkOptionNames } from "../option-names.ts";
import type { ReplayOptions, ReplayStore } from "./replay-store.ts";
import type { Vendor } from "../vendors/define-vendor.ts";

/** Options of replay protection with their defaults. */
export interface ReplaySettings {
  readonly store: ReplayStore;
  readonly keepFor: number;
  readonly lease: number;
  readonly dropEqualBodiesFor: number | undefined;
  /** Never throws. */
  readonly onRepetition: (event: UntypedEvent) => void;
}

const optionNames = ["store", "keepFor", "lease", "dropEqualBodiesFor", "onRepetition"];

/**
 * Completes the options of replay protection. Warns where it can have no effect.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function replaySettings(
  replay: boolean | ReplayOptions,
  { vendor, log }: { readonly vendor: Vendor; readonly log: Logger },
): ReplaySettings | undefined {
  if (replay === false) return undefined;
  checkOptionNames(replay === true ? {} : replay, { owner: "replay", names: optionNames });
  const {
    keepFor = 86_400_000,
    lease = 60_000,
    store = memoryReplayStore(),
    dropEqualBodiesFor,
    onRepetition = () => {},
  } = replay === true ? {} : replay;
  checkAge("replay.keepFor", keepFor);
  checkDuration("replay.lease", lease);
  if (typeof store?.claim !== "function") throw optionError("replay.store", store, "a store");
  if (typeof onRepetition !== "function") {
    throw optionError("replay.onRepetition", onRepetition, "a function");
  }
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
  const report = guardedListener(onRepetition, (error) => {
    log.error("onRepetition of webhooks failed", error);
  });
  return { store, keepFor, lease, dropEqualBodiesFor, onRepetition: report };
}

function checkAge(what: string, value: unknown): void {
  if (typeof value === "number" && value > 0 && value !== Infinity) return;
  throw optionError(what, value, "milliseconds");
}
