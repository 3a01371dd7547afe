import type { Store, Transaction } from "@fetchwork/documents";
import type { JobOptions } from "@fetchwork/documents/jobs";
import { checkOptions, checkType } from "../../check-options.ts";
import { optionError } from "../../errors.ts";
import type { AnyEvent, EventMap } from "../../event-map.ts";
import type { WebhooksOptions } from "../../receive/webhooks-options.ts";
import { vendor as defaultVendor } from "../../vendors/default-vendor.ts";
import { checkVendor, type Vendor } from "../../vendors/define-vendor.ts";

/** The second argument of a handler of an inbox. */
export interface InboxContext {
  /**
   * Aborts after 10 seconds, when the transaction is rolled back, when the inbox stops, and when
   * another process may have taken the delivery over.
   */
  readonly signal: AbortSignal;
  /** The transaction in which the delivery becomes handled: its changes are made exactly once. */
  readonly transaction: Transaction;
  /** 1 at first, one more with each further attempt. */
  readonly attempt: number;
}

type ReceiverParts =
  "additionalSecrets" | "log" | "maxUnverified" | "onUnknownEventName" | "secret" | "vendor";

/** Options of `createInbox`. */
export interface InboxOptions<Events extends EventMap> extends Pick<
  WebhooksOptions<Events>,
  ReceiverParts
> {
  /** Keeps the deliveries and what handlers change; any number of processes may share it. */
  readonly store: Store;
  /**
   * Tells the inboxes of one store apart: 1 to 40 lower-case letters, digits and `-`. Processes
   * that share an inbox use the same one. Default: the name of the vendor.
   */
  readonly name?: string | undefined;
  /**
   * Returns the key of an event. Events with the same key are handled one by one, in any process,
   * in the order of storage; one that is retried holds up those behind it until it is handled or
   * dead. Default: no order.
   */
  readonly key?: ((event: AnyEvent<Events>) => string | undefined) | undefined;
  /** Retries of a failed delivery before it is dead. Default: `20`, about 7 hours. */
  readonly retries?: number | undefined;
  /** Delays between attempts. Default: from 1 second to 1 hour, doubled each time. */
  readonly backoff?: JobOptions<unknown>["backoff"];
  /** Maximum deliveries that this process handles at once, 1 to 1,000. Default: `8`. */
  readonly concurrency?: number | undefined;
  /**
   * Milliseconds for which a handled delivery is kept, and its duplicates are recognized: longer
   * than the sender retries. Default: 7 days. Dead ones are kept for 30 days.
   */
  readonly keepFor?: number | undefined;
  /**
   * For vendors that sign no identifier: milliseconds after its handling in which a delivery with
   * an equal body counts as the same. Genuine events with equal bodies are then dropped. Default:
   * each delivery is stored.
   */
  readonly dropEqualBodiesFor?: number | undefined;
  /** Milliseconds between looks for others' deliveries, from 10. Default: `200`. */
  readonly pollInterval?: number | undefined;
  /** Milliseconds until a stopped process's delivery moves, from 1,000. Default: `30_000`. */
  readonly lease?: number | undefined;
}

/** Checks what the queue does not check itself, and returns vendor and name. */
export function checkInboxOptions<Events extends EventMap>(
  options: InboxOptions<Events>,
): { readonly vendor: Vendor; readonly name: string } {
  checkOptions("createInbox", options, [
    "additionalSecrets",
    "log",
    "maxUnverified",
    "onUnknownEventName",
    "secret",
    "vendor",
    "store",
    "name",
    "key",
    "retries",
    "backoff",
    "concurrency",
    "keepFor",
    "dropEqualBodiesFor",
    "pollInterval",
    "lease",
  ]);
  // The type parameter is that of the default vendor when no vendor is given.
  const { vendor = defaultVendor as Vendor, store, key, dropEqualBodiesFor } = options;
  checkVendor(vendor);
  const { name = vendor.name } = options;
  if (typeof store?.transaction !== "function") throw optionError("store", store, "a store");
  if (typeof name !== "string" || !/^[a-z\d-]{1,40}$/.test(name)) {
    throw optionError("name", name, "1 to 40 lower-case letters, digits and hyphens");
  }
  checkType("key", key, "function");
  const signsId = (vendor.scheme.signedId ?? vendor.signedId) !== undefined;
  if (signsId && dropEqualBodiesFor !== undefined) {
    const expected = `nothing with ${vendor.name}, which signs an identifier`;
    throw optionError("dropEqualBodiesFor", dropEqualBodiesFor, expected);
  }
  return { vendor, name };
}
