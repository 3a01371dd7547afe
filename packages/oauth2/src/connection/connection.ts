import { ExchangeWatch, watchBody } from "@fetchwork/http/transport";
import { connectionFailure } from "./connection-failure.ts";
import { OAuth2Error, OAuth2TimeoutError, OAuth2UsageError } from "../errors.ts";
import type { Fetch } from "./fetch.ts";
import {
  describeBody,
  describeRequest,
  describeResponse,
  type DebugLogger,
} from "../log/logger.ts";
import { isSecretHeader, redactError, secretsOfRequest } from "../log/redact.ts";
import { readBody } from "./read-body.ts";
import { isStream, type SentBody } from "../message/request-body.ts";
import { OAuth2Response, type ParseOptions } from "../message/response.ts";
import { secretsOfBody } from "../log/secrets-of-body.ts";
import { BodyLog, watchUpload } from "./streamed-body.ts";

/** How requests are sent; made once per client. */
export interface ConnectionOptions {
  /** Sends requests. Default: the `fetch` of the platform. */
  readonly fetch?: Fetch | undefined;
  /** Headers of every request; those of the request win. Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** Time for one whole exchange, in milliseconds; 0 means no limit. Default: 30_000. */
  readonly timeout?: number | undefined;
  /** Where debug output goes; without it there is none. Default: none. */
  readonly debugLogger?: DebugLogger | undefined;
}

/** One exchange: redirects are not followed. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: SentBody | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Finds the values that nothing may show wherever they stand. Default: none. */
  readonly secrets?: (() => readonly string[]) | undefined;
  /** Whether a redirect from another origin led here: then no header with a credential is added. */
  readonly isForeign?: boolean | undefined;
  /** Sends instead of the connection's own `fetch`; its errors pass unchanged. Default: none. */
  readonly transport?: Fetch | undefined;
  /** Other members of the request, such as `cache`. Default: none. */
  readonly init?: RequestInit | undefined;
}

/** An exchange whose response is read completely. */
export interface WholeExchange extends Exchange, ParseOptions {
  /** Maximum size of the response's body, in bytes. */
  readonly maxResponseBytes: number;
}

/** A response: what is known of it, and its body if that is streamed. */
export interface Received {
  /** The response; without its body if that is streamed. */
  readonly head: OAuth2Response;
  /** The platform's response with a streamed body; `undefined` when it was read. */
  readonly stream?: Response | undefined;
}

/** A response whose body is streamed. */
export interface StreamedResponse extends Received {
  readonly stream: Response;
}

/**
 * Sends single requests, with a time limit and a log. Everything that a client sends goes through
 * here. The response is read completely, up to a limit, or is streamed.
 */
export class Connection {
  readonly #fetch: Fetch | undefined;
  readonly #headers: readonly (readonly [string, string])[];
  /** Milliseconds that a server may be silent; 0 means no limit. */
  readonly timeout: number;
  readonly #logger: DebugLogger | undefined;

  constructor(options: ConnectionOptions = {}) {
    const { fetch, headers, timeout = 30_000, debugLogger } = options;
    this.#fetch = fetch;
    this.#headers = [...toHeaders(headers)];
    this.timeout = timeout;
    this.#logger = debugLogger;
  }

  /**
   * Sends one request and reads the response completely.
   *
   * @throws OAuth2ConnectionError when there is no response, OAuth2TimeoutError when it is not
   * complete in time, InvalidResponseError `ERR_OAUTH_RESPONSE_TOO_LARGE`, and the reason of the
   * signal when that is aborted
   */
  async send(exchange: WholeExchange): Promise<OAuth2Response> {
    const watch = this.#prepare(exchange);
    try {
      const response = await this.#exchange(exchange, watch);
      const isPlatform = this.#isPlatform(exchange);
      const body = await readBody(response, exchange.maxResponseBytes, isPlatform);
      const whole = toResponse(exchange, response, body);
      this.#logResponse(whole, exchange, body);
      if (isPlatform) watch.dispose();
      return whole;
    } catch (error) {
      throw toFailure(error, exchange, watch);
    } finally {
      watch.release();
    }
  }

  /**
   * Sends one request and returns the response as soon as its head is there. The time limit counts
   * up to the head, and again for each piece of a streamed body, in both directions.
   *
   * @throws what {@link Connection.send} throws; reading the body too
   */
  async stream(given: Exchange): Promise<StreamedResponse> {
    const upload = isStream(given.body) ? this.#newLog() : undefined;
    const exchange = upload === undefined ? given : withSecretsOf(upload, given);
    const watch = this.#prepare(exchange);
    try {
      const response = await this.#exchange(exchange, watch, upload);
      watch.stop();
      const head = toResponse(exchange, response, "");
      this.#logResponse(head, exchange, "");
      return { head, stream: this.#watch(response, exchange, watch) };
    } catch (error) {
      watch.release();
      throw toFailure(error, exchange, watch);
    }
  }

  #prepare(exchange: Exchange): ExchangeWatch {
    const { timeout } = this;
    const { method, url, headers, body } = exchange;
    for (const [name, value] of this.#headers) {
      if (headers.has(name) || (exchange.isForeign === true && isSecretHeader(name))) continue;
      headers.set(name, value);
    }
    const secrets = this.#logger === undefined ? [] : secretsOf(exchange);
    this.#logger?.debug(describeRequest(method, url, { headers, body: loggable(body), secrets }));
    const limit = { milliseconds: timeout, error: () => new OAuth2TimeoutError(timeout) };
    return new ExchangeWatch(exchange.signal, timeout === 0 ? undefined : limit);
  }

  #isPlatform({ transport }: Exchange): boolean {
    return transport === undefined && this.#fetch === undefined;
  }

  #exchange(
    exchange: Exchange,
    watch: ExchangeWatch,
    upload?: BodyLog,
  ): Response | Promise<Response> {
    const { method, url, headers, body, transport, init } = exchange;
    const onEnd = (): void => this.#logBody("request", upload, { exchange, headers });
    const content = isStream(body)
      ? { body: watchUpload(body, { watch, log: upload, onEnd }), duplex: "half" }
      : { body: body ?? null };
    const { signal } = watch;
    const all = { ...init, method, headers, redirect: "manual" as const, signal, ...content };
    const send = transport ?? this.#fetch;
    watch.start();
    return send === undefined ? globalThis.fetch(url.href, all) : send(new Request(url.href, all));
  }

  #logResponse(
    { status, headers }: OAuth2Response,
    exchange: Exchange,
    body: Uint8Array | string,
  ): void {
    if (this.#logger === undefined) return;
    const secrets = secretsOf(exchange);
    this.#logger.debug(describeResponse(status, { headers, body, secrets }));
  }

  #logBody(
    kind: "request" | "response",
    log: BodyLog | undefined,
    { exchange, headers }: { readonly exchange: Exchange; readonly headers: Headers },
  ): void {
    if (log === undefined) return;
    const message = { headers, body: log.content, secrets: secretsOf(exchange) };
    this.#logger?.debug(describeBody(kind, message));
  }

  #watch(response: Response, exchange: Exchange, watch: ExchangeWatch): Response {
    const { body, status, statusText, headers } = response;
    const isPlain = watch.signal === null && this.#logger === undefined;
    if (body === null || isPlain || status < 200 || status > 599) {
      watch.release();
      return response;
    }
    const log = this.#newLog();
    const isPlatform = this.#isPlatform(exchange);
    const watched = watchBody(body, watch, {
      onPiece: (piece) => log?.add(piece),
      onEnd: (isComplete) => {
        this.#logBody("response", log, { exchange, headers });
        if (isComplete && isPlatform) watch.dispose();
      },
      toFailure: (error) => toFailure(error, exchange, watch),
    });
    const copy = new Response(watched, { status, statusText, headers });
    return Object.defineProperty(copy, "url", { value: response.url || exchange.url.href });
  }

  #newLog(): BodyLog | undefined {
    return this.#logger === undefined ? undefined : new BodyLog();
  }
}

function toResponse(
  exchange: Exchange & Partial<WholeExchange>,
  { status, headers }: Response,
  body: Uint8Array | string,
): OAuth2Response {
  const { url, parse, snaky, snakyHashClass, headers: requestHeaders } = exchange;
  return new OAuth2Response({
    status,
    headers,
    body,
    url: url.href,
    parse,
    snaky,
    snakyHashClass,
    requestHeaders,
    get secrets() {
      return exchange.secrets?.() ?? [];
    },
  });
}

function secretsOf({ url, headers, secrets }: Exchange): readonly string[] {
  return [...(secrets?.() ?? []), ...secretsOfRequest(url.href, headers)];
}

/** The secrets of a streamed body are known when it has been sent. */
function withSecretsOf(upload: BodyLog, exchange: Exchange): Exchange {
  const { headers, secrets } = exchange;
  return {
    ...exchange,
    secrets: () => [
      ...(secrets?.() ?? []),
      ...secretsOfBody(upload.content, headers.get("content-type")),
    ],
  };
}

function loggable(body: SentBody | undefined): string | Uint8Array | undefined {
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  return body === undefined ? undefined : "(not logged)";
}

function toFailure(error: unknown, exchange: Exchange, { signal }: ExchangeWatch): unknown {
  if (signal?.aborted === true) return signal.reason;
  const isOwn = error instanceof OAuth2Error || error instanceof OAuth2UsageError;
  if (isOwn || exchange.transport !== undefined) return error;
  // Errors of some platforms quote the URL.
  return connectionFailure(exchange.url, redactError(error, secretsOf(exchange)));
}

/**
 * Makes headers of what a caller gave. The platform's error would show the value, which may be a
 * secret.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function toHeaders(init: RequestInit["headers"]): Headers {
  try {
    return new Headers(init);
  } catch {
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", "headers has an invalid name or value");
  }
}
