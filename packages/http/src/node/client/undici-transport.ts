// By its file, as in `direct-connector.ts`, for Bun.
import { Agent, type buildConnector } from "undici/index.js";
import { HttpUsageError } from "../../errors.ts";
import type {
  StreamedResponse,
  Transport,
  TransportRequest,
  WholeResponse,
} from "../../client/transport/transport.ts";
import { basicCredentials } from "../../client/request/request-url.ts";
import { ConnectionSites } from "./connection-site.ts";
import { directConnector, type ConnectorOptions } from "./direct-connector.ts";
import type { ExchangeRoute } from "./exchange.ts";
import { bypassList, proxyFromEnvironment, proxyUrl, type ProxyChoice } from "./proxy-choice.ts";
import { writeHead } from "./request-head.ts";
import { StreamedExchange } from "./streamed-exchange.ts";
import { tunnelConnector, type Proxy } from "./tunnel-connector.ts";
import {
  checkTransportOptions,
  isProxyOptions,
  type ProxyOptions,
  type UndiciTransportOptions,
} from "./undici-transport-options.ts";
import { inPieces, UploadBody } from "./upload-body.ts";
import { WholeExchange } from "./whole-exchange.ts";

/**
 * Makes a transport on `undici`: HTTP/1.1 with kept connections, HTTP/2 where the server chooses
 * it, proxies, mutual TLS, decompression.
 *
 * Connections that nothing is sent on do not keep the process alive. A connection that lay idle may
 * be closed by the server while a request is on its way; then a request with an idempotent method
 * and no stream as its body is sent once more, on another connection.
 *
 * Headers: `Host` is sent as given and decides neither where the request goes nor which certificate
 * is wanted; `Content-Length` must fit the body; of `Connection` only `close` counts;
 * `Transfer-Encoding`, `Keep-Alive`, `Upgrade`, `Expect`, `Proxy-Authorization`, `Proxy-Connection`
 * and line breaks are refused with an `HttpUsageError`.
 *
 * @throws {HttpUsageError} `ERR_HTTP_OPTION`.
 * @example
 * const transport = undiciTransport({ connections: 50, proxy: "http://user:secret@proxy.internal:3128" });
 */
export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  checkTransportOptions(options);
  return new UndiciTransport(options);
}

/** Connections that lead to servers directly, to a proxy, or through one. */
interface Pool {
  readonly agent: Agent;
  readonly sites: ConnectionSites;
}

/** The way through one proxy. */
interface ProxyPools {
  readonly proxy: Proxy;
  /** Origin of the proxy itself, where requests for `http:` targets go. */
  readonly forward: Pool;
  readonly tunnel: Pool;
}

class UndiciTransport implements Transport {
  readonly #direct: Pool;
  readonly #choice: ProxyChoice | undefined;
  readonly #http: ProxyPools | undefined;
  readonly #https: ProxyPools | undefined;
  readonly #decompress: boolean;
  readonly #maxHeaderSize: number;
  readonly #agents: Agent[] = [];
  #closed: Promise<void> | undefined;

  constructor(options: UndiciTransportOptions) {
    const { decompress = true, maxHeaderSize = 16_384, proxy, tls = {} } = options;
    this.#decompress = decompress;
    this.#maxHeaderSize = maxHeaderSize;
    const { http2 = true, lookup, connections, keepAliveTimeout = 4_000 } = options;
    const agent = {
      maxHeaderSize,
      keepAliveTimeout,
      allowH2: http2,
      ...(connections === undefined ? {} : { connections }),
    };
    const connector: ConnectorOptions = { tls, http2, lookup };
    this.#direct = this.#pool((sites) => directConnector(sites, connector), agent);
    if (proxy === false) return;
    const given = isProxyOptions(proxy) ? proxy : undefined;
    const choice = chooseProxies(proxy);
    const pools = (url: URL | undefined): ProxyPools | undefined => {
      if (url === undefined) return undefined;
      const ready = readProxy(url, given);
      const forward = { ...connector, tls: ready.tls, http2: false };
      return {
        proxy: ready,
        forward: this.#pool((sites) => directConnector(sites, forward), {
          ...agent,
          allowH2: false,
        }),
        tunnel: this.#pool((sites) => tunnelConnector(sites, ready, connector), agent),
      };
    };
    const { http, https } = choice;
    this.#http = pools(http);
    this.#https = https?.href === http?.href ? this.#http : pools(https);
    if (http !== undefined || https !== undefined) this.#choice = choice;
  }

  exchange(request: TransportRequest): Promise<WholeResponse> {
    return new Promise((resolve, reject) => {
      new WholeExchange(request, this.#route(request), resolve, reject).start();
    });
  }

  stream(request: TransportRequest): Promise<StreamedResponse> {
    return new Promise((resolve, reject) => {
      new StreamedExchange(request, this.#route(request), resolve, reject).start();
    });
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#agents.map((agent) => agent.close())).then(() => {});
    return this.#closed;
  }

  #pool(
    connector: (sites: ConnectionSites) => buildConnector.connector,
    options: Agent.Options,
  ): Pool {
    const sites = new ConnectionSites();
    const agent = new Agent({ ...options, connect: connector(sites) });
    this.#agents.push(agent);
    return { agent, sites };
  }

  #proxyFor(url: URL): ProxyPools | undefined {
    if (this.#choice === undefined || this.#choice.bypasses(url)) return undefined;
    return url.protocol === "http:" ? this.#http : this.#https;
  }

  #route(request: TransportRequest): ExchangeRoute {
    if (this.#closed !== undefined) {
      throw new HttpUsageError("ERR_HTTP_CLIENT_CLOSED", "the transport is closed");
    }
    const { url, method, body, timeouts } = request;
    if (method === "CONNECT") {
      throw new HttpUsageError("ERR_HTTP_METHOD", "the method CONNECT cannot be sent");
    }
    const { headers, announced } = writeHead(request, this.#decompress);
    const { href } = url;
    const slash = href.indexOf("/", url.protocol.length + 2);
    const origin = href.slice(0, slash);
    const upload = body instanceof ReadableStream ? new UploadBody(body, announced) : undefined;
    const pools = this.#proxyFor(url);
    const forwarded = pools !== undefined && url.protocol === "http:";
    if (forwarded) forwardHeaders(headers, url, pools.proxy);
    const { agent, sites } =
      pools === undefined ? this.#direct : forwarded ? pools.forward : pools.tunnel;
    return {
      agent,
      sites,
      forwarded,
      upload,
      decompress: this.#decompress,
      maxHeaderSize: this.#maxHeaderSize,
      options: {
        origin: forwarded ? pools.proxy.url.origin : origin,
        path: forwarded ? href : href.slice(slash),
        method,
        headers,
        body: (body instanceof ReadableStream ? upload : inPieces(body, headers)) ?? null,
        headersTimeout: timeouts.headers,
        bodyTimeout: timeouts.body,
        servername: forwarded ? pools.proxy.url.hostname : url.hostname,
      },
    };
  }
}

function chooseProxies(proxy: string | URL | ProxyOptions | undefined): ProxyChoice {
  if (proxy === undefined || proxy === "environment") {
    // oxlint-disable-next-line node/no-process-env -- to read it is what the option asks for
    return proxyFromEnvironment(process.env);
  }
  if (typeof proxy === "string" || proxy instanceof URL) {
    const url = proxyUrl(proxy, "proxy");
    return { http: url, https: url, bypasses: () => false };
  }
  const url = proxyUrl(proxy.url, "proxy.url");
  return { http: url, https: url, bypasses: bypassList(proxy.noProxy ?? "") };
}

/** Takes the credentials out of a proxy's URL. */
function readProxy(url: URL, given: ProxyOptions | undefined): Proxy {
  const bare = new URL(url.origin);
  const basic = url.username === "" && url.password === "" ? undefined : basicCredentials(url);
  return { url: bare, authorization: given?.authorization ?? basic, tls: given?.tls ?? {} };
}

/** Additional headers of a request through a proxy without a tunnel. */
function forwardHeaders(headers: string[], target: URL, proxy: Proxy): void {
  if (!hasName(headers, "host")) headers.push("host", target.host);
  if (proxy.authorization !== undefined) headers.push("proxy-authorization", proxy.authorization);
}

function hasName(headers: readonly string[], name: string): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name) return true;
  return false;
}
