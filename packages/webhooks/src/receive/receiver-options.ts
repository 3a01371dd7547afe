import type { Logger } from "@fetchwork/kit";
import type { BodyKind } from "../vendors/define-vendor.ts";

/** Names of {@link ReceiverOptions}, and what others call them. */
export const receiverOptions: {
  readonly names: readonly string[];
  readonly otherNames: Readonly<Record<string, string>>;
} = {
  names: [
    "path",
    "timeout",
    "mode",
    "maxBody",
    "bodyTimeout",
    "contentTypes",
    "exposeErrors",
    "log",
  ],
  otherNames: { limit: "maxBody", maxBodySize: "maxBody", url: "path" },
};

/** Options of receivers. */
export interface ReceiverOptions {
  /** Path that deliveries come to; slashes at its end do not count. Default: the vendor's. */
  readonly path?: string | undefined;
  /**
   * Milliseconds from the arrival of a request to its response: 202 while handlers still run, 503 when a secret function
   * or a replay store has not finished, so that the delivery is not handled yet. Default: `9_000`, as GitHub waits for
   * ten seconds.
   */
  readonly timeout?: number | undefined;
  /**
   * `"await"` answers when the handlers are done, `"ack"` with 202 as soon as the delivery is verified. With `"ack"` a
   * failure is told to `onError` and the log only: the sender does not try again. Default: `"await"`.
   */
  readonly mode?: "await" | "ack" | undefined;
  /** Maximum size of a body in bytes; more is answered with 413. Default: `26_214_400` (25 MiB). */
  readonly maxBody?: number | undefined;
  /** Milliseconds in which a body must have come; else 408. Default: `10_000`. */
  readonly bodyTimeout?: number | undefined;
  /** Kinds of bodies that are taken; others are answered with 415. Default: the vendor's, mostly JSON. */
  readonly contentTypes?: readonly BodyKind[] | undefined;
  /**
   * Shows the sender name and message of the first error that a handler threw, cut after 1,000 characters. Unsafe where
   * messages hold secrets. The status is 500 in any case. Default: `false`.
   */
  readonly exposeErrors?: boolean | undefined;
  /** Default: the log of the `Webhooks`. */
  readonly log?: Partial<Logger> | undefined;
}
