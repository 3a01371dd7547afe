import type { LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import { checkOptions } from "../../check-options.ts";
import { HttpUsageError } from "../../errors.ts";
import { amount, optionError } from "../../client/option-values.ts";
import { checkTls, checkType, type ClientTlsOptions } from "./tls-options.ts";

/** A proxy by option; the environment does not count then. */
export interface ProxyOptions {
  /** `http:` or `https:`, with credentials for Basic authentication if the proxy wants some. */
  readonly url: string | URL;
  /** `Proxy-Authorization` instead of credentials of `url`: `Bearer …`. Default: none. */
  readonly authorization?: string | undefined;
  /** Hosts to reach without it, in the form of `NO_PROXY`. Default: none. */
  readonly noProxy?: string | undefined;
  /** TLS of the connection to an `https:` proxy. Default: the platform's. */
  readonly tls?: ClientTlsOptions | undefined;
}

/** Options of `undiciTransport`. */
export interface UndiciTransportOptions {
  /** Maximum connections to one origin; further requests wait for a free one. Default: no limit. */
  readonly connections?: number | undefined;
  /** Milliseconds until an idle connection closes, unless set by the server. Default: `4_000`. */
  readonly keepAliveTimeout?: number | undefined;
  /** Maximum milliseconds of an idle connection that the server may set. Default: `600_000`. */
  readonly keepAliveMaxTimeout?: number | undefined;
  /** Whether HTTP/2 is spoken with servers that choose it by ALPN. Default: `true`. */
  readonly http2?: boolean | undefined;
  /** Bytes of a response's head. Default: `16_384`. HTTP/1.1 only. */
  readonly maxHeaderSize?: number | undefined;
  /**
   * Whether `Accept-Encoding` is sent unless the request has one, and gzip, deflate and Brotli are
   * taken off the body. Default: `true`.
   */
  readonly decompress?: boolean | undefined;
  /**
   * `"environment"`: `http_proxy`, `https_proxy` and `no_proxy`, as they are when the transport is
   * made. `false`: none. Default: `"environment"`, and none with `socketPath`.
   */
  readonly proxy?: false | string | URL | ProxyOptions | undefined;
  /** TLS with the servers. Default: the platform's. */
  readonly tls?: ClientTlsOptions | undefined;
  /** Path of a Unix socket to which every request goes. Default: none. */
  readonly socketPath?: string | undefined;
  /** Local address to connect from. Default: the system's choice. */
  readonly localAddress?: string | undefined;
  /** Resolves names, to refuse addresses for example; not for IP URLs. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
  /**
   * A dispatcher of undici to use unchanged, such as a `MockAgent`. It keeps its own connect
   * timeout, and `close()` does not close it. Its connections are not told apart as fresh or idle,
   * so nothing is sent twice. The options about connections must not be given. Default: none.
   */
  readonly dispatcher?: Dispatcher | undefined;
}

/**
 * Refuses options that are wrong or contradict each other.
 *
 * @throws {HttpUsageError} `ERR_HTTP_OPTION`.
 */
export function checkTransportOptions(options: UndiciTransportOptions): void {
  checkOptions<UndiciTransportOptions>("undiciTransport", options, [
    "connections",
    "keepAliveTimeout",
    "keepAliveMaxTimeout",
    "http2",
    "maxHeaderSize",
    "decompress",
    "proxy",
    "tls",
    "socketPath",
    "localAddress",
    "lookup",
    "dispatcher",
  ]);
  if (options.connections !== undefined) atLeastOne(options.connections, "connections");
  if (options.keepAliveTimeout !== undefined) {
    atLeastOne(options.keepAliveTimeout, "keepAliveTimeout", longestTimer);
  }
  if (options.keepAliveMaxTimeout !== undefined) {
    atLeastOne(options.keepAliveMaxTimeout, "keepAliveMaxTimeout", longestTimer);
  }
  if (options.maxHeaderSize !== undefined) atLeastOne(options.maxHeaderSize, "maxHeaderSize");
  checkType(options.http2, "http2", "boolean");
  checkType(options.decompress, "decompress", "boolean");
  checkType(options.socketPath, "socketPath", "string");
  checkType(options.localAddress, "localAddress", "string");
  checkType(options.lookup, "lookup", "function");
  checkTls(options.tls, "tls");
  if (isProxyOptions(options.proxy))
    checkOptions<ProxyOptions>("proxy", options.proxy, ["url", "authorization", "noProxy", "tls"]);
  if (options.socketPath !== undefined && options.proxy) {
    throw new HttpUsageError("ERR_HTTP_OPTION", "options socketPath and proxy exclude each other");
  }
  if (options.dispatcher !== undefined) checkDispatcher(options, options.dispatcher);
}

function isProxyOptions(proxy: UndiciTransportOptions["proxy"]): proxy is ProxyOptions {
  return typeof proxy === "object" && !(proxy instanceof URL);
}

const longestTimer = 2_147_483_647;

function checkDispatcher(options: UndiciTransportOptions, dispatcher: unknown): void {
  const fits =
    typeof dispatcher === "object" &&
    dispatcher !== null &&
    "dispatch" in dispatcher &&
    typeof dispatcher.dispatch === "function";
  if (!fits) throw optionError("dispatcher", dispatcher, "a dispatcher of undici");
  for (const name of ofOwnPools) {
    if (options[name] === undefined) continue;
    throw new HttpUsageError(
      "ERR_HTTP_OPTION",
      `option ${name} has no effect with a dispatcher, which must bring its own`,
    );
  }
}

const ofOwnPools = [
  "connections",
  "keepAliveTimeout",
  "keepAliveMaxTimeout",
  "http2",
  "maxHeaderSize",
  "proxy",
  "tls",
  "socketPath",
  "localAddress",
  "lookup",
] as const;

function atLeastOne(value: unknown, name: string, max?: number): void {
  if (amount(value, name, max) === 0) throw optionError(name, 0, "a whole number from 1 on");
}
