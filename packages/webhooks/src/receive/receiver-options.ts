import type { Logger } from "@fetchwork/kit";
import type { BodyKind } from "../body-kind.ts";

/** Options of receivers. */
export interface ReceiverOptions {
  /** Path of deliveries; trailing slashes are ignored. Default: the path of the vendor. */
  readonly path?: string | undefined;
  /**
   * Public URL of the receiver, without a query, as the sender has it:
   * `https://example.com/api/twilio/webhooks`. Required for vendors that sign the URL, because
   * behind a proxy a request has another one. The query of the request is added. Default: none.
   */
  readonly url?: string | undefined;
  /**
   * Milliseconds from the arrival of a request to its response: 202 while handlers still run. 503
   * when a secret function or a replay store has not finished; the delivery is not handled then.
   * Default: `9_000`, as GitHub waits for ten seconds.
   */
  readonly timeout?: number | undefined;
  /** Maximum size of a body in bytes; a larger one is refused with 413. Default: 25 MiB. */
  readonly maxBody?: number | undefined;
  /** Milliseconds in which a body must arrive; else the response is 408. Default: `10_000`. */
  readonly bodyTimeout?: number | undefined;
  /** Accepted kinds of bodies; others get 415. Default: the vendor's, mostly JSON. */
  readonly contentTypes?: readonly BodyKind[] | undefined;
  /**
   * Sends name and message of the first error that a handler threw, truncated to 1,000 characters.
   * Unsafe where messages contain secrets. The status is 500 in any case. Default: `false`.
   */
  readonly exposeErrors?: boolean | undefined;
  /** Receives log messages. Default: the log of the `Webhooks`. */
  readonly log?: Partial<Logger> | undefined;
}

/** Names of {@link ReceiverOptions}. */
export const receiverOptionNames: readonly (keyof ReceiverOptions)[] = [
  "path",
  "url",
  "timeout",
  "maxBody",
  "bodyTimeout",
  "contentTypes",
  "exposeErrors",
  "log",
];
