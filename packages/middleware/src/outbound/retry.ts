import {
  deriveRequest,
  nativeRequest,
  ResponseHead,
  type Context,
  type Handler,
  type Middleware,
  type RetryOptions,
} from "@fetchwork/http";
import {
  retryOptionNames,
  createRetryRules,
  mayRetry,
  retryDelay,
  type RetryRules,
} from "@fetchwork/http/internal";
import { pause, UsageError } from "@fetchwork/kit";
import { continueStream, readUpTo } from "../body/stream-start.ts";
import { checkAmount, checkOptions } from "../check-options.ts";
import { MiddlewareError } from "../errors.ts";

/** Options of {@link retry}: those of the `Client` of `@fetchwork/http`, and one for bodies. */
export interface RetryMiddlewareOptions extends RetryOptions {
  /** Maximum body bytes kept for repeats; larger ones are sent once. Default: 65_536. */
  readonly replayLimit?: number | undefined;
}

/**
 * Sends a request again after a failure that may pass: a network error, a timeout, or a status that
 * says so. The rules, their options and defaults are those of `Client({ retry })` of
 * `@fetchwork/http`.
 *
 * Only requests that may be sent twice are: those with an idempotent method (RFC 9110, 9.2.2) or an
 * `Idempotency-Key`, and with a body of at most `replayLimit` bytes. The delay is random up to a
 * maximum that doubles with each failure ("full jitter"). It is at least what the response asks
 * for. An abort ends the delay with the reason of the signal. The last response or error is
 * returned or thrown unchanged.
 *
 * @example
 * ```ts
 * const api = wrap(fetch, retry({ retries: 3 }), timeout(2_000));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function retry(options: RetryMiddlewareOptions = {}): Middleware {
  checkOptions("retry", options, [...retryOptionNames, "replayLimit"]);
  const { replayLimit = 65_536, ...rules } = options;
  checkAmount(replayLimit, "replayLimit", 0);
  const policy = readPolicy(rules);
  return (next) => (request, context) => {
    if (policy.retries === 0) return next(request, context);
    const sent = sentRequest(request);
    if (policy.shouldRetry === undefined && !mayRetry(policy, sent)) return next(request, context);
    if (request.body === null) return sendWithRetries(policy, next, () => request, context);
    return sendWithBody(policy, next, { request, context, replayLimit });
  };
}

function readPolicy(rules: RetryOptions): RetryRules {
  try {
    return createRetryRules(rules);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new MiddlewareError("ERR_MIDDLEWARE_OPTION", error.message, { cause: error });
  }
}

function sentRequest({ method, headers }: Request): Parameters<typeof mayRetry>[1] {
  return { method, hasIdempotencyKey: headers.has("idempotency-key") };
}

async function sendWithBody(
  policy: RetryRules,
  next: Handler,
  {
    request,
    context,
    replayLimit,
  }: { readonly request: Request; readonly context: Context; readonly replayLimit: number },
): Promise<Response> {
  const reader = request.body?.getReader();
  if (reader === undefined) return next(request, context);
  const { bytes, isWhole } = await readUpTo(reader, replayLimit);
  if (!isWhole) return next(withBody(request, continueStream(bytes, reader)), context);
  return sendWithRetries(policy, next, () => withBody(request, bytes), context);
}

async function sendWithRetries(
  policy: RetryRules,
  next: Handler,
  makeRequest: () => Request,
  context: Context,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const request = makeRequest();
    const signals = [request.signal, context.signal];
    const sent = sentRequest(request);
    let delay: number | undefined;
    try {
      const response = await next(request, context);
      delay = await retryDelay(policy, sent, attempt, {
        response: {
          status: response.status,
          headers: response.headers,
          toHead: () => toHead(response),
        },
      });
      if (delay === undefined) return response;
      // An unread body would hold its connection.
      response.body?.cancel().catch(() => undefined);
    } catch (error) {
      if (signals.some(({ aborted }) => aborted)) throw error;
      delay = await retryDelay(policy, sent, attempt, { error, isOfHandler: true });
      if (delay === undefined) throw error;
    }
    await pause(delay, AbortSignal.any(signals));
  }
}

function toHead({ status, headers }: Response): ResponseHead {
  return new ResponseHead({ status, headers: [...headers].flat() });
}

function withBody(request: Request, body: Uint8Array<ArrayBuffer> | ReadableStream): Request {
  // `fetch` needs the platform's request, which one of a server is not.
  if ("_request" in request) return nativeRequest(deriveRequest(request, { body }));
  const init: RequestInit & { duplex?: "half" } = { body };
  if (body instanceof ReadableStream) init.duplex = "half";
  return new Request(request, init);
}
