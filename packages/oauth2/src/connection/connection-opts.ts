import { OAuth2UsageError, optionError } from "../errors.ts";
import type { Fetch } from "./fetch.ts";
import { checkOptions } from "../check-options.ts";

/** PEM or DER. */
export type PemOrDer = string | Uint8Array;

/** Options of the transport that need Node; `@fetchwork/oauth2/node` has it. */
export interface NodeTransportOptions {
  /** Client certificate, with its chain (RFC 8705). Default: none. */
  readonly cert?: PemOrDer | undefined;
  /** Private key of the certificate. Default: none. */
  readonly key?: PemOrDer | undefined;
  /** Passphrase of the key. Default: none. */
  readonly passphrase?: string | undefined;
  /** Certificate authorities to trust instead of the platform's. Default: the platform's. */
  readonly ca?: PemOrDer | readonly PemOrDer[] | undefined;
  /** URL of an HTTP proxy; `false`: none. Default: `HTTPS_PROXY` and others of the environment. */
  readonly proxy?: string | false | undefined;
  /** Time to connect, in milliseconds. Default: 10_000. */
  readonly connectTimeout?: number | undefined;
}

/** Options of the connection of a client. */
export interface ConnectionOpts extends NodeTransportOptions {
  /** Time for one whole exchange, in milliseconds; 0 means no limit. Default: 30_000. */
  readonly timeout?: number | undefined;
  /** Headers of every request. Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
}

/** Names of the options that need Node. */
export const transportOptionNames: readonly (keyof NodeTransportOptions)[] = [
  "cert",
  "key",
  "passphrase",
  "ca",
  "proxy",
  "connectTimeout",
];

/**
 * Checks the options of a connection.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when one is unknown, or needs Node where `fetch` is
 * given
 */
export function checkConnectionOpts(options: ConnectionOpts, fetch: Fetch | undefined): void {
  checkOptions("connectionOpts", options, [...transportOptionNames, "timeout", "headers"]);
  checkTimeout(options.timeout);
  if (fetch !== undefined && needsNode(options)) {
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      "connectionOpts about certificates and proxies do not reach a fetch that is given; give them to that",
    );
  }
}

/**
 * Checks that there is the certificate that `tls_client_auth` shows, signed by itself or not.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkCertificate({ cert }: ConnectionOpts): void {
  if ((cert ?? "").length > 0) return;
  throw new OAuth2UsageError(
    "ERR_OAUTH_OPTION",
    "tls_client_auth needs a certificate: connectionOpts with cert and key; or a fetch that has one",
  );
}

/**
 * Checks a time limit.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
function checkTimeout(timeout: number | undefined): void {
  // Timers of the platform fire at once where the time is longer.
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout >= 0 && timeout < 2 ** 31)) {
    throw optionError("timeout", timeout, "milliseconds up to 2147483647, or 0 for no limit");
  }
}

/** Whether the platform's `fetch` cannot do what the options ask for. */
export function needsNode(options: ConnectionOpts): boolean {
  const { timeout: _timeout, headers: _headers, ...transport } = options;
  return Object.values(transport).some((value) => value !== undefined);
}
