import type { Logger } from "./logger.ts";
import type { BodyKind } from "./vendor.ts";

/** Options of receivers. */
export interface ReceiverOptions {
  /** Path that deliveries come to; slashes at its end do not count. Default: the vendor's. */
  readonly path?: string | undefined;
  /**
   * Milliseconds from the arrival of a request after which it is answered with 202 while handlers still run. Default:
   * `9_000`, as GitHub waits for ten seconds.
   */
  readonly timeout?: number | undefined;
  /**
   * `"await"` answers when the handlers are done, `"ack"` with 202 as soon as the delivery is verified. With `"ack"` a
   * failure is told to `onError` and the log only: the sender does not try again. Default: `"await"`.
   */
  readonly mode?: "await" | "ack" | undefined;
  /** Bytes of a body; more is answered with 413. Default: `26_214_400` (25 MiB). */
  readonly maxBody?: number | undefined;
  /** Milliseconds in which a body must have come; else 408. Default: `10_000`. */
  readonly bodyTimeout?: number | undefined;
  /** Kinds of bodies that are taken; others are answered with 415. Default: the vendor's, mostly JSON. */
  readonly contentTypes?: readonly BodyKind[] | undefined;
  /** Default: the log of the `Webhooks`. */
  readonly log?: Partial<Logger> | undefined;
}
