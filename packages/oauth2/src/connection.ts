import { ConnectionError, OAuth2Error, OAuth2UsageError, TimeoutError } from "./errors.ts";
import type { Fetch } from "./fetch.ts";
import { describeRequest, describeResponse, type Logger } from "./logger.ts";
import { isSecretHeader, redactError, secretsOfRequest } from "./redact.ts";
import { readBody } from "./read-body.ts";
import { OAuth2Response, type ParseOptions } from "./response.ts";

/** How requests are sent; made once per client. */
export interface ConnectionOptions {
  /** What sends. Default: the `fetch` of the platform. */
  readonly fetch?: Fetch | undefined;
  /** Headers of every request; those of the request win. Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** Time for one whole exchange, in milliseconds; 0 is no limit. Default: 30_000. */
  readonly timeout?: number | undefined;
  /** Where debug output goes; without it there is none. Default: none. */
  readonly debugLogger?: Logger | undefined;
}

/** One exchange: redirects are not followed. */
export interface Exchange extends ParseOptions {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** Largest body of the answer, in bytes. */
  readonly maxResponseBytes: number;
  /** Time for the exchange in milliseconds. Default: that of the connection. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Values that the log must not show wherever they stand. */
  readonly secrets?: readonly string[] | undefined;
  /** Whether a redirect led here from another origin: then the connection adds no header that may hold a credential. */
  readonly isForeign?: boolean | undefined;
}

/** Why the signal of an exchange that is over is aborted; one for all, as making it costs more than the rest. */
const over = new Error("the exchange is over");

/** Sends single requests with a timeout, a limit of size and a log, and reads the answers whole. */
export class Connection {
  readonly #fetch: Fetch | undefined;
  readonly #headers: readonly (readonly [string, string])[];
  readonly #timeout: number;
  readonly #logger: Logger | undefined;

  constructor(options: ConnectionOptions = {}) {
    const { fetch, headers, timeout = 30_000, debugLogger } = options;
    this.#fetch = fetch;
    this.#headers = [...toHeaders(headers)];
    this.#timeout = timeout;
    this.#logger = debugLogger;
  }

  /**
   * Sends one request and reads the answer whole.
   *
   * @throws ConnectionError when there is no answer, TimeoutError when it is not there in time, InvalidResponseError
   * `ERR_OAUTH_RESPONSE_TOO_LARGE`, and the reason of the signal when that is aborted
   */
  async send(exchange: Exchange): Promise<OAuth2Response> {
    const { method, url, headers, body, signal, timeout = this.#timeout } = exchange;
    for (const [name, value] of this.#headers) {
      if (headers.has(name) || (exchange.isForeign === true && isSecretHeader(name))) continue;
      headers.set(name, value);
    }
    this.#logger?.debug(
      describeRequest(
        method,
        url,
        exchange.secrets === undefined
          ? { headers, body }
          : { headers, body, secrets: exchange.secrets },
      ),
    );

    signal?.throwIfAborted();
    const canAbort = timeout > 0 || (signal !== undefined && signal !== null);
    const controller = canAbort ? new AbortController() : undefined;
    const abort = (): void => controller?.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const timer =
      timeout > 0
        ? setTimeout(() => controller?.abort(new TimeoutError(timeout)), timeout)
        : undefined;
    try {
      const response = await this.#exchange(url, {
        method,
        headers,
        redirect: "manual",
        signal: controller?.signal ?? null,
        body: body ?? null,
      });
      const content = await readBody(
        response,
        exchange.maxResponseBytes,
        this.#fetch === undefined,
      );
      const answer = new OAuth2Response({
        status: response.status,
        headers: response.headers,
        body: content,
        url: url.href,
        parse: exchange.parse,
        snaky: exchange.snaky,
        snakyHashClass: exchange.snakyHashClass,
        secrets: exchange.secrets,
        requestHeaders: headers,
      });
      this.#logger?.debug(
        describeResponse(answer.status, {
          headers: answer.headers,
          body: content,
          secrets: [...(exchange.secrets ?? []), ...secretsOfRequest(url.href, headers)],
        }),
      );
      return answer;
    } catch (error) {
      if (controller?.signal.aborted === true) throw controller.signal.reason;
      const secrets = [...(exchange.secrets ?? []), ...secretsOfRequest(url.href, headers)];
      throw toConnectionError(error, url, secrets);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      // The platform keeps what belongs to a signal until a full garbage collection, which costs a tenth of the request.
      // Aborted, it lets go at once; the answer is read whole, so that nothing else ends.
      if (this.#fetch === undefined) controller?.abort(over);
    }
  }

  #exchange(url: URL, init: RequestInit): Response | Promise<Response> {
    return this.#fetch === undefined
      ? globalThis.fetch(url.href, init)
      : this.#fetch(new Request(url, init));
  }
}

function toConnectionError(error: unknown, url: URL, secrets: readonly string[]): unknown {
  if (error instanceof OAuth2Error || error instanceof OAuth2UsageError) return error;
  // Errors of some platforms quote the URL.
  const cause = redactError(error, secrets);
  return new ConnectionError(`no whole answer from ${url.origin}`, { cause });
}

/**
 * Makes headers of what a caller gave. The platform's error would show the value, which may be a secret.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function toHeaders(init: RequestInit["headers"]): Headers {
  try {
    return new Headers(init);
  } catch {
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      "headers has a name or value that no header can have",
    );
  }
}
