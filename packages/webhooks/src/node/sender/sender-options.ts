import type { Store } from "@fetchwork/documents";
import type { Transport } from "@fetchwork/http";
import { optionError } from "../../errors.ts";
import { checkOptions, checkType } from "../../check-options.ts";
import { checkVendor, type Vendor } from "../../vendors/define-vendor.ts";
import type { EventTypes } from "./events/catalogue.ts";
import type { AnnouncedCollection } from "./events/announce-changes.ts";
import type { RetryScheduleOptions } from "./deliveries/retry-schedule.ts";
import type { AttemptReport } from "./deliveries/settle-delivery.ts";

/** Options of `createSender`. */
export interface SenderOptions {
  /** Keeps events, their jobs, deliveries and endpoints; several processes may share it. */
  readonly store: Store;
  /**
   * How deliveries are signed and which headers they have. Default: `fetchwork`, signed as Standard
   * Webhooks do with the identifier.
   */
  readonly vendor?: Vendor | undefined;
  /**
   * Kinds of events that can be sent, by name. An event of another name, or with a payload that its
   * schema refuses, is not sent, and endpoints subscribe to no other names. Default: everything can
   * be sent.
   */
  readonly eventTypes?: EventTypes | undefined;
  /**
   * Collections whose changes are announced, however they are made: by one document or many, in a
   * transaction or outside, by expiry. A change and its record are stored together, so none that
   * was acknowledged is left out, also when processes crash. One process that was started announces
   * a collection at a time; nothing is announced while no endpoint is enabled. A change whose
   * `event` throws is reported and left out. Records older than a week that every consumer of the
   * feed has passed are removed from it. Default: none.
   */
  readonly announce?: readonly AnnouncedCollection[] | undefined;
  /** When a failed delivery is retried, and for how long. */
  readonly retry?: RetryScheduleOptions | undefined;
  /** Milliseconds of nothing but failures after which an endpoint is disabled. Default: 5 days. */
  readonly disableAfter?: number | undefined;
  /** Milliseconds for an attempt, from connecting to the response's end. Default: `15_000`. */
  readonly timeout?: number | undefined;
  /**
   * Maximum number of concurrent attempts in this process; one that waits for more than 250 ms does
   * not count, up to four times as many. Endpoints that have not responded yet use at most three
   * quarters, endpoints whose last attempt timed out a quarter. Default: 256.
   */
  readonly concurrency?: number | undefined;
  /**
   * Maximum number of concurrent attempts to one endpoint in this process. An endpoint that has not
   * responded yet, or whose last attempt timed out, has one. Default: 8.
   */
  readonly endpointConcurrency?: number | undefined;
  /**
   * Milliseconds between two queries for due deliveries and for events of other processes; what
   * this process sends is delivered at once. Default: `1_000`.
   */
  readonly pollInterval?: number | undefined;
  /**
   * Milliseconds after which another process may take over a delivery or an event. The process that
   * claimed it has crashed then. Longer than an attempt may take. Default: 30 seconds more than
   * `timeout`.
   */
  readonly lease?: number | undefined;
  /** Milliseconds for which delivered and dead deliveries are kept. Default: 30 days. */
  readonly keepFor?: number | undefined;
  /**
   * Keys of at least 32 characters that seal the secrets and headers of endpoints in the store: the
   * first one seals, all of them open. Values that were stored without one stay readable, and are
   * sealed with the next change of their endpoint. Default: none, and anyone who can read the store
   * can sign.
   */
  readonly sealWith?: string | readonly string[] | undefined;
  /** Allows `http:` URLs. Default: false. */
  readonly allowHttp?: boolean | undefined;
  /**
   * Allows targets in private networks, on this machine and in other special ranges. The address
   * that is connected to counts, not the name; one in a URL is refused with the URL.
   * Default: false. A custom `transport` must check addresses itself.
   */
  readonly allowPrivate?: boolean | undefined;
  /** Carries the requests. Default: `undiciTransport`, to public addresses or `allowPrivate`. */
  readonly transport?: Transport | undefined;
  /** Called after every attempt, and when a delivery is given up. Default: none. */
  readonly onAttempt?: ((report: AttemptReport) => unknown) | undefined;
  /** Receives errors of the store, which are retried, and of `onAttempt`. Default: the console. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

const longestTimer = 2_147_483_647;
const longestAge = 3650 * 86_400_000;

/** Names of the numbers among the options. */
type NumberName =
  | "disableAfter"
  | "timeout"
  | "concurrency"
  | "endpointConcurrency"
  | "pollInterval"
  | "keepFor"
  | "lease";

/**
 * Checks the options, and returns the numbers among them with their defaults.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkSenderOptions(options: SenderOptions): Readonly<Record<NumberName, number>> {
  checkOptions("createSender", options, [
    "store",
    "vendor",
    "eventTypes",
    "announce",
    "retry",
    "disableAfter",
    "timeout",
    "concurrency",
    "endpointConcurrency",
    "pollInterval",
    "lease",
    "keepFor",
    "sealWith",
    "allowHttp",
    "allowPrivate",
    "transport",
    "onAttempt",
    "onError",
  ]);
  checkOptions("retry", options.retry, [
    "giveUpAfter",
    "firstDelay",
    "factor",
    "maxDelay",
    "jitter",
  ]);
  if (options.vendor !== undefined) checkVendor(options.vendor);
  checkType("allowHttp", options.allowHttp, "boolean");
  checkType("allowPrivate", options.allowPrivate, "boolean");
  checkType("onAttempt", options.onAttempt, "function");
  checkType("onError", options.onError, "function");
  const day = 86_400_000;
  const {
    disableAfter = 5 * day,
    timeout = 15_000,
    concurrency = 256,
    endpointConcurrency = 8,
    pollInterval = 1_000,
    keepFor = 30 * day,
    lease = timeout + 30_000,
  } = options;
  const durations = { disableAfter, timeout, pollInterval, keepFor, lease };
  for (const [name, value] of Object.entries(durations)) {
    // Beyond it a date or a timer would overflow.
    const maximum = name === "timeout" || name === "pollInterval" ? longestTimer : longestAge;
    if (!(value > 0 && value <= maximum)) {
      throw optionError(name, value, `milliseconds of at most ${maximum}`);
    }
  }
  const counts = { concurrency, endpointConcurrency };
  for (const [name, value] of Object.entries(counts)) {
    if (!(Number.isSafeInteger(value) && value > 0))
      throw optionError(name, value, "a whole number from 1");
  }
  if (lease <= timeout) throw optionError("lease", lease, "more than timeout");
  if (typeof options.store?.transaction !== "function") {
    throw optionError("store", options.store, "a document store");
  }
  return { ...durations, ...counts };
}
