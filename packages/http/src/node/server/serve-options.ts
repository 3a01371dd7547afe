import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { checkOptions } from "../../check-options.ts";
import { HttpUsageError } from "../../errors.ts";
import { guardedReport, logError } from "../../exchange/report-error.ts";
import { amount, checkType, milliseconds, optionError } from "../../option-values.ts";
import { type BodyLimits, checkBodyLimits } from "./body-limits.ts";

/** Options of a server: where it listens, what it accepts and how it stops. */
export interface ServeOptions {
  /** TCP port; 0 lets the system choose. The environment is not read. Default: `3000`. */
  readonly port?: number | undefined;
  /** Address or name to listen on. Default: all addresses of the machine. */
  readonly hostname?: string | undefined;
  /**
   * Maximum time for a whole request to arrive, body included, in milliseconds; then 408. 0 means
   * unlimited, which lets a client hold a connection forever. Default: `300_000`.
   */
  readonly requestTimeout?: number | undefined;
  /**
   * Maximum time for the head of a request to arrive, in milliseconds; then 408. 0 means unlimited,
   * which lets a client hold a connection forever. Default: `30_000`, or `requestTimeout` when that
   * is shorter.
   */
  readonly headersTimeout?: number | undefined;
  /**
   * Maximum time in which a client reads nothing of a response that waits for it, in milliseconds;
   * then the connection is destroyed. A slow client that reads some of it has as long as it needs.
   * Checked every second, or every quarter of a shorter time. 0 means unlimited, which lets a
   * client keep responses in memory forever. Default: `30_000`.
   */
  readonly responseTimeout?: number | undefined;
  /**
   * Time for which an idle connection stays open, in milliseconds. It must be longer than that of a
   * proxy in front, which could otherwise use a connection that is closing. Default: `65_000`.
   */
  readonly keepAliveTimeout?: number | undefined;
  /** Maximum open connections; more are closed at once. Default: the system's limit. */
  readonly maxConnections?: number | undefined;
  /** Maximum size of the head of a request, in bytes; a larger one is a 431. Default: `16_384`. */
  readonly maxHeaderSize?: number | undefined;
  /**
   * Maximum size of the body of a request, in bytes. A larger one is a 413: at once when
   * `Content-Length` announces it, otherwise when the handler reads that far. Default: no limit.
   */
  readonly maxRequestBodySize?: number | undefined;
  /**
   * Maximum size in bytes of a body that is read whole (`text()`, `json()`, `bytes()`,
   * `arrayBuffer()`, `blob()`, `formData()`). A larger one is a 413: before anything is read when
   * `Content-Length` announces it. Does not limit a body that is read as a stream. Default:
   * `1_048_576` (1 MiB).
   */
  readonly maxBodySize?: number | undefined;
  /**
   * Maximum bytes of all bodies together that are in memory, over all connections: those that are
   * read whole, from their first byte until the handler has responded. Beyond it the largest one
   * that is still arriving is a 503 with `Retry-After`. Memory in use may be three times as much.
   * At least `maxBodySize`. Default: 64 MiB, or `maxBodySize` when that is larger.
   */
  readonly maxBufferedSize?: number | undefined;
  /**
   * Puts `FastResponse` in the place of the global `Response` of this process, for good. Frameworks
   * such as Hono make cheap responses then. Without it no global is touched. Has no effect on Bun
   * and Deno. Default: `false`.
   */
  readonly fastResponse?: boolean | undefined;
  /** Serves HTTPS. Default: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Offers HTTP/2 in addition to HTTP/1.1; needs `tls`. Default: `false`. */
  readonly http2?: boolean | undefined;
  /**
   * Stops on SIGTERM and SIGINT as {@link RunningServer.close} does. A second signal at least 500
   * ms later ends the process at once, with 128 plus its number; an earlier one counts as the same,
   * because npm forwards a signal that the terminal has sent already. Default: `true`.
   */
  readonly signals?: boolean | undefined;
  /**
   * Time that requests in flight and `waitUntil` promises have to end when the server stops, in
   * milliseconds; then connections are closed. Default: `10_000`.
   */
  readonly gracePeriod?: number | undefined;
  /** Stops the server when it is aborted. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Takes over connections whose client asks for another protocol, such as WebSocket, over HTTP/1.1
   * (RFC 9110, 7.8). The handler does not see these requests; call it to let its middlewares
   * decide. The connection counts for `maxConnections`, has no time limits, and is closed when the
   * grace period is over. Default: the request is served as if it did not ask.
   */
  readonly onUpgrade?: UpgradeListener | undefined;
  /** Receives errors of handlers, bodies and promises. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
}

/**
 * Gets the request, its connection, and the bytes of the other protocol that came with the head. An
 * error closes the connection and is reported.
 */
export type UpgradeListener = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) => Promise<void> | void;

/** Certificate and key of a server, in PEM. */
export interface TlsOptions {
  /** Certificate, followed by those between it and the root. */
  readonly cert: string | Uint8Array;
  /** Private key of the certificate. */
  readonly key: string | Uint8Array;
  /**
   * Certificate authorities of clients. When set, a client without a certificate of theirs is
   * rejected (mutual TLS). Default: no client certificates.
   */
  readonly ca?: string | Uint8Array | undefined;
  /** Decrypts the key. Default: the key is not encrypted. */
  readonly passphrase?: string | undefined;
}

/** Options with their defaults. */
export interface CheckedServeOptions
  extends
    BodyLimits,
    Pick<ServeOptions, "hostname" | "maxConnections" | "onUpgrade" | "signal" | "tls"> {
  readonly port: number;
  readonly requestTimeout: number;
  readonly headersTimeout: number;
  readonly responseTimeout: number;
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  readonly http2: boolean;
  readonly signals: boolean;
  readonly gracePeriod: number;
  readonly reportError: (error: unknown) => void;
}

/**
 * Checks options and fills in defaults.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export function checkServeOptions(options: ServeOptions): CheckedServeOptions {
  checkOptions<ServeOptions>("serve", options, [
    "port",
    "hostname",
    "requestTimeout",
    "headersTimeout",
    "responseTimeout",
    "keepAliveTimeout",
    "maxConnections",
    "maxHeaderSize",
    "maxRequestBodySize",
    "maxBodySize",
    "maxBufferedSize",
    "fastResponse",
    "tls",
    "http2",
    "signals",
    "gracePeriod",
    "signal",
    "onUpgrade",
    "reportError",
  ]);
  checkOptions<TlsOptions>("tls of serve", options.tls, ["cert", "key", "ca", "passphrase"]);
  const checked = {
    hostname: options.hostname,
    maxConnections: options.maxConnections,
    ...checkBodyLimits(options),
    onUpgrade: options.onUpgrade,
    signal: options.signal,
    tls: options.tls,
    port: amount(options.port ?? 3000, "port", 65_535),
    requestTimeout: milliseconds(options.requestTimeout ?? 300_000, "requestTimeout"),
    headersTimeout: milliseconds(options.headersTimeout ?? 30_000, "headersTimeout"),
    responseTimeout: milliseconds(options.responseTimeout ?? 30_000, "responseTimeout"),
    keepAliveTimeout: milliseconds(options.keepAliveTimeout ?? 65_000, "keepAliveTimeout"),
    maxHeaderSize: amount(options.maxHeaderSize ?? 16_384, "maxHeaderSize", 2 ** 30, 1024),
    http2: options.http2 ?? false,
    signals: options.signals ?? true,
    gracePeriod: milliseconds(options.gracePeriod ?? 10_000, "gracePeriod"),
    reportError: guardedReport(options.reportError ?? logError),
  };
  amount(options.maxConnections ?? 1, "maxConnections", undefined, 1);
  checkType(options.hostname, "hostname", "string");
  checkType(options.http2, "http2", "boolean");
  checkType(options.fastResponse, "fastResponse", "boolean");
  checkType(options.signals, "signals", "boolean");
  checkType(options.onUpgrade, "onUpgrade", "function");
  checkType(options.reportError, "reportError", "function");
  if (checked.hostname === "") throw optionError("hostname", "", "an address or a name");
  if (checked.signal !== undefined && !(checked.signal instanceof AbortSignal)) {
    throw optionError("signal", checked.signal, "an AbortSignal");
  }
  if (checked.http2 && checked.tls === undefined) {
    const problem = "option http2 needs option tls: browsers use it over TLS only";
    throw new HttpUsageError("ERR_HTTP_OPTION", problem);
  }
  const { headersTimeout, requestTimeout } = checked;
  if (options.headersTimeout === undefined && requestTimeout > 0) {
    return { ...checked, headersTimeout: Math.min(headersTimeout, requestTimeout) };
  }
  if (requestTimeout > 0 && headersTimeout > requestTimeout) {
    const limit = `at most the requestTimeout of ${requestTimeout}`;
    throw optionError("headersTimeout", headersTimeout, limit);
  }
  return checked;
}
