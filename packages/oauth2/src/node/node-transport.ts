import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
// Imported by file: for the bare package name, Bun substitutes its own module, which has no
// connections.
import {
  Agent,
  EnvHttpProxyAgent,
  ProxyAgent,
  fetch as send,
  type Dispatcher,
} from "undici/index.js";
import {
  transportOptionNames,
  type NodeTransportOptions,
  type PemOrDer,
} from "../connection/connection-opts.ts";
import { OAuth2UsageError, optionError } from "../errors.ts";
import { wholeOrStream } from "../message/whole-or-stream.ts";
import { checkOptions } from "../check-options.ts";

/** Sends requests with certificates, proxies, timeouts; a `fetch` and a `Fetch`. */
export interface NodeTransport extends AsyncDisposable {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Waits for what is under way, and closes the connections. */
  close(): Promise<void>;
}

/**
 * Makes a transport on `undici`, with separate connections.
 *
 * @example
 * ```ts
 * const fetch = nodeTransport({ cert, key });
 * const client = new OAuth2Client("id", null, { site, authScheme: "tls_client_auth", fetch });
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when an option is wrong, or certificate and key do
 * not belong together
 */
export function nodeTransport(options: NodeTransportOptions = {}): NodeTransport {
  checkOptions("nodeTransport", options, transportOptionNames);
  checkTimes(options);
  checkTls(options);
  const dispatcher = createDispatcher(options);
  const transport = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> => {
    const request = input instanceof Request ? input : new Request(input, init);
    const body = request.body === null ? null : await wholeOrStream(request.body);
    const response = await send(request.url, {
      method: request.method,
      headers: [...request.headers],
      body,
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
      redirect: request.redirect,
      signal: request.signal,
      dispatcher,
    });
    // The platform's class of the same standard, another copy of it.
    return response as unknown as Response;
  };
  const close = (): Promise<void> => dispatcher.close();
  return Object.assign(transport, { close, [Symbol.asyncDispose]: close });
}

interface Tls {
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly passphrase?: string;
  readonly pfx?: string | Buffer;
  readonly ca?: string | Buffer | (string | Buffer)[];
}

function createDispatcher(options: NodeTransportOptions): Dispatcher {
  const { proxy, connectTimeout = 10_000, headersTimeout = 30_000, bodyTimeout = 30_000 } = options;
  const tls = tlsOf(options);
  const common = {
    headersTimeout,
    bodyTimeout,
    connections: options.connections ?? null,
    connect: { ...tls, timeout: connectTimeout },
  };
  if (proxy === false) return new Agent(common);
  const behindProxy = { ...common, requestTls: { ...tls, timeout: connectTimeout } };
  if (proxy === undefined) return new EnvHttpProxyAgent(behindProxy);
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "proxy must be an http or https URL");
  }
  return new ProxyAgent({ ...behindProxy, uri: proxy });
}

function tlsOf({ cert, key, passphrase, pfx, ca }: NodeTransportOptions): Tls {
  return {
    ...(cert === undefined ? {} : { cert: content(cert) }),
    ...(key === undefined ? {} : { key: content(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(pfx === undefined ? {} : { pfx: content(pfx) }),
    ...(ca === undefined ? {} : { ca: isList(ca) ? ca.map(content) : content(ca) }),
  };
}

function isList(ca: PemOrDer | readonly PemOrDer[]): ca is readonly PemOrDer[] {
  return Array.isArray(ca);
}

function content(value: PemOrDer): string | Buffer {
  return typeof value === "string" ? value : Buffer.from(value);
}

function checkTls(options: NodeTransportOptions): void {
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "cert and key belong together");
  }
  try {
    const tls = tlsOf(options);
    createSecureContext(tls);
    // The context skips a certificate authority that it cannot read.
    for (const ca of [tls.ca ?? []].flat()) void new X509Certificate(ca);
  } catch (error) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "cert, key, pfx or ca cannot be used", {
      cause: error,
    });
  }
}

function checkTimes(options: NodeTransportOptions): void {
  for (const name of ["connectTimeout", "headersTimeout", "bodyTimeout", "connections"] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isFinite(value) && value >= 0)) {
      throw optionError(name, value, "a number that is not negative");
    }
  }
}
