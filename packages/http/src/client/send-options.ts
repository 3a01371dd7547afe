import { checkOptions } from "../check-options.ts";
import { milliseconds, optionError } from "../option-values.ts";
import type { RedirectOptions } from "./redirect.ts";
import type { RetryOptions } from "./retry.ts";
import type { PhaseTimeouts } from "./transport/transport.ts";

/** Milliseconds that a request may take, in parts and in all; 0 means no limit. */
export interface ClientTimeouts {
  /** Name look-up, TCP and TLS handshake together. Default: `10_000`. */
  readonly connect?: number | undefined;
  /** From the end of the request to the end of the response's head. Default: `30_000`. */
  readonly headers?: number | undefined;
  /** Between two pieces of the response's body. Default: `30_000`. */
  readonly body?: number | undefined;
  /**
   * Everything: redirects, repetitions, the waits between them, and the body, also of a stream.
   * Default: `0`, so that a slow but steady download may take its time.
   */
  readonly total?: number | undefined;
}

/** Policy for every request of a client, which may differ for one of them. */
export interface RequestPolicy {
  /** Limits in time; a number is the one for the total. Default: see {@link ClientTimeouts}. */
  readonly timeout?: number | ClientTimeouts | undefined;
  /**
   * Bytes of a body after decompression; more is a `TooLargeError`. Default: `16_777_216` for
   * `send`, and no limit for `stream`. `Infinity` takes it away.
   */
  readonly maxResponseSize?: number | undefined;
  /** How redirects are followed; a number is the maximum, `false` returns the 3xx. Default: 10. */
  readonly redirect?: false | number | RedirectOptions | undefined;
  /** Whether and how a request is sent again; a number is how often. Default: `false`. */
  readonly retry?: false | number | RetryOptions | undefined;
  /** Rejects with a `ResponseError` for a status of 400 or more. Default: `false`. */
  readonly throwOnStatus?: boolean | undefined;
}

/** Options of one request. */
export interface SendOptions extends RequestPolicy {
  /** Ends the request at once, wherever it is, with an `AbortError`. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** Limits in time that are checked and complete. */
export interface Timeouts {
  readonly phases: PhaseTimeouts;
  readonly total: number;
}

/** Default of `maxResponseSize` for `send`. */
export const defaultMaxResponseSize = 16_777_216;

/** The defaults of {@link Timeouts}. */
export const defaultTimeouts: Timeouts = Object.freeze({
  phases: Object.freeze({ connect: 10_000, headers: 30_000, body: 30_000 }),
  total: 0,
});

/** Names of {@link RequestPolicy}, for the options that extend it. */
export const policyNames: readonly (keyof RequestPolicy)[] = [
  "timeout",
  "maxResponseSize",
  "redirect",
  "retry",
  "throwOnStatus",
];

/** Lays given limits over others. */
export function mergeTimeouts(given: RequestPolicy["timeout"], base: Timeouts): Timeouts {
  if (given === undefined) return base;
  if (typeof given === "number") return { ...base, total: milliseconds(given, "timeout") };
  if (typeof given !== "object" || given === null) {
    throw optionError("timeout", given, "milliseconds or an object");
  }
  checkOptions<ClientTimeouts>("timeout", given, ["connect", "headers", "body", "total"]);
  const { connect, headers, body } = base.phases;
  return {
    phases: {
      connect: milliseconds(given.connect ?? connect, "timeout.connect"),
      headers: milliseconds(given.headers ?? headers, "timeout.headers"),
      body: milliseconds(given.body ?? body, "timeout.body"),
    },
    total: milliseconds(given.total ?? base.total, "timeout.total"),
  };
}
