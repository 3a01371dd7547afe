import type { LookupFunction } from "node:net";
import { checkOptions } from "../../check-options.ts";
import { amount, checkType, optionError } from "../../option-values.ts";
import { checkTls, type ClientTlsOptions } from "./tls-options.ts";

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
   * made. `false`: none. Default: `"environment"`.
   */
  readonly proxy?: false | string | URL | ProxyOptions | undefined;
  /** TLS with the servers. Default: the platform's. */
  readonly tls?: ClientTlsOptions | undefined;
  /** Resolves names, to refuse addresses for example; not for IP URLs. Default: `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined;
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
    "http2",
    "maxHeaderSize",
    "decompress",
    "proxy",
    "tls",
    "lookup",
  ]);
  amount(options.connections ?? 1, "connections", undefined, 1);
  amount(options.keepAliveTimeout ?? 1, "keepAliveTimeout", 2 ** 31 - 1, 1);
  amount(options.maxHeaderSize ?? 1, "maxHeaderSize", undefined, 1);
  checkType(options.http2, "http2", "boolean");
  checkType(options.decompress, "decompress", "boolean");
  checkType(options.lookup, "lookup", "function");
  checkTls(options.tls, "tls");
  if (isProxyOptions(options.proxy)) checkProxy(options.proxy);
}

/** Whether the option is neither a URL nor a switch. */
export function isProxyOptions(proxy: UndiciTransportOptions["proxy"]): proxy is ProxyOptions {
  return typeof proxy === "object" && !(proxy instanceof URL);
}

function checkProxy(proxy: ProxyOptions): void {
  if (proxy === null) throw optionError("proxy", proxy, "a URL or an object");
  checkOptions<ProxyOptions>("proxy", proxy, ["url", "authorization", "noProxy", "tls"]);
  if (proxy.authorization !== undefined && !/^[\t\x20-\x7e]+$/.test(proxy.authorization)) {
    throw optionError("proxy.authorization", proxy.authorization, "the value of a header");
  }
  checkType(proxy.noProxy, "proxy.noProxy", "string");
  checkTls(proxy.tls, "proxy.tls");
}
