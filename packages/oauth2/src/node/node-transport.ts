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
 * Makes a transport on `undici`, with separate connections. A server may be silent for as long as
 * with the platform's `fetch`, five minutes; a client ends the wait at its own `timeout`.
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
  readonly ca?: string | Buffer | (string | Buffer)[];
}

function createDispatcher(options: NodeTransportOptions): Dispatcher {
  const { proxy, connectTimeout = 10_000 } = options;
  if (!(Number.isFinite(connectTimeout) && connectTimeout >= 0)) {
    throw optionError("connectTimeout", connectTimeout, "a number that is not negative");
  }
  const connect = { ...tlsOf(options), timeout: connectTimeout };
  if (proxy === false) return new Agent({ connect });
  const behindProxy = { connect, requestTls: connect };
  if (proxy === undefined) return new EnvHttpProxyAgent(behindProxy);
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "proxy must be an http or https URL");
  }
  return new ProxyAgent({ ...behindProxy, uri: proxy });
}

function tlsOf({ cert, key, passphrase, ca }: NodeTransportOptions): Tls {
  return {
    ...(cert === undefined ? {} : { cert: content(cert) }),
    ...(key === undefined ? {} : { key: content(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
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
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "cert, key or ca cannot be used", {
      cause: error,
    });
  }
}
