import {
  deriveRequest,
  nativeRequest,
  type Context,
  type Handler,
  type Middleware,
} from "@fetchwork/http";
import { parseRetryAfter } from "@fetchwork/kit";
import {
  checkAmount,
  checkOptions,
  checkTexts,
  longestTimer,
  optionError,
  type OptionNames,
} from "../check-options.ts";
import { continueStream, readUpTo } from "../body/stream-start.ts";

/** Options of {@link retry}. */
export interface RetryOptions {
  /** How often a request is sent again at most. Default: 2. */
  readonly retries?: number | undefined;
  /** Methods that may be sent twice. Default: GET, HEAD, OPTIONS, PUT, DELETE; others with an `Idempotency-Key`. */
  readonly methods?: readonly string[] | undefined;
  /** Statuses after which a request is sent again. Default: 408, 425, 429, 502, 503, 504. */
  readonly statuses?: readonly number[] | undefined;
  /** Longest pause before the first repetition, in milliseconds; it doubles each time. Default: 200. */
  readonly baseDelay?: number | undefined;
  /** Longest pause of all, in milliseconds. Default: 30_000. */
  readonly maxDelay?: number | undefined;
  /** `Retry-After` that is waited for at most, in milliseconds; a longer one is the answer. Default: 60_000. */
  readonly maxRetryAfter?: number | undefined;
  /** Bytes of a body that are kept to be sent again; a request with a longer one is sent once. Default: 65_536. */
  readonly replayLimit?: number | undefined;
}

/**
 * Sends a request again when it failed for a reason that may pass: the network, a deadline, or a status that says so.
 *
 * Only requests that may be sent twice: of an idempotent method (RFC 9110, 9.2.2) or with an `Idempotency-Key`, and
 * with a body that fits in `replayLimit`. The pause is a random part of a time that doubles ("full jitter"), and at
 * least what `Retry-After` asks for. An abort ends it at once, with the reason of the signal. The last answer, or
 * error, is given as it is.
 *
 * @example
 * ```ts
 * const api = wrap(fetch, retry({ retries: 3 }), timeout(2_000));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function retry(options: RetryOptions = {}): Middleware {
  checkOptions(options, knownOptions);
  const policy = checkPolicy(options);
  return (next) => (request, context) => {
    const isRepeatable =
      policy.methods.has(request.method) || request.headers.has("idempotency-key");
    if (!isRepeatable || policy.retries === 0) return next(request, context);
    if (request.body === null) return repeat(policy, next, { make: () => request, context });
    return repeatWithBody(policy, next, request, context);
  };
}

interface Policy {
  readonly retries: number;
  readonly methods: ReadonlySet<string>;
  readonly statuses: ReadonlySet<number>;
  readonly baseDelay: number;
  readonly maxDelay: number;
  readonly maxRetryAfter: number;
  readonly replayLimit: number;
}

interface Attempts {
  /** Makes the request of an attempt. */
  readonly make: () => Request;
  readonly context: Context;
}

async function repeatWithBody(
  policy: Policy,
  next: Handler,
  request: Request,
  context: Context,
): Promise<Response> {
  const reader = request.body?.getReader();
  if (reader === undefined) return next(request, context);
  const { bytes: body, isWhole } = await readUpTo(reader, policy.replayLimit);
  if (!isWhole) return next(withBody(request, continueStream(body, reader)), context);
  return repeat(policy, next, { make: () => withBody(request, body), context });
}

async function repeat(
  policy: Policy,
  next: Handler,
  { make, context }: Attempts,
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const request = make();
    const signals = [request.signal, context.signal];
    const isLast = attempt === policy.retries;
    let delay = Math.random() * Math.min(policy.maxDelay, policy.baseDelay * 2 ** attempt);
    try {
      const response = await next(request, context);
      if (isLast || !policy.statuses.has(response.status)) return response;
      const asked = parseRetryAfter(response.headers.get("retry-after") ?? "") ?? 0;
      if (asked > policy.maxRetryAfter) return response;
      delay = Math.max(delay, asked);
      // What is not read would keep its connection.
      response.body?.cancel().catch(() => undefined);
    } catch (error) {
      const isAborted = signals.some(({ aborted }) => aborted);
      if (isLast || isAborted || isAbort(error)) throw error;
    }
    await pause(delay, signals);
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Waits, unless a signal aborts, which rejects with its reason. */
async function pause(milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const onAbort = ({ target }: Event): void => {
    if (target instanceof AbortSignal) reject(target.reason);
  };
  for (const signal of signals) {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", onAbort, { once: true });
  }
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}

function withBody(request: Request, body: Uint8Array<ArrayBuffer> | ReadableStream): Request {
  // `fetch` needs the platform's request; one of a server, or derived from one, is not.
  if ("_request" in request) return nativeRequest(deriveRequest(request, { body }));
  const init: RequestInit & { duplex?: "half" } = { body };
  if (body instanceof ReadableStream) init.duplex = "half";
  return new Request(request, init);
}

function checkPolicy(options: RetryOptions): Policy {
  const {
    retries = 2,
    methods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"],
    statuses = [408, 425, 429, 502, 503, 504],
    baseDelay = 200,
    maxDelay = 30_000,
    maxRetryAfter = 60_000,
    replayLimit = 65_536,
  } = options;
  const amounts = { retries, baseDelay, maxDelay, maxRetryAfter };
  for (const [name, value] of Object.entries(amounts)) {
    checkAmount(value, name, 0);
    if (value > longestTimer) throw optionError(name, value, `at most ${longestTimer}`);
  }
  checkAmount(replayLimit, "replayLimit", 0);
  checkTexts(methods, "methods");
  if (!Array.isArray(statuses)) throw optionError("statuses", statuses, "a list of statuses");
  for (const status of statuses as readonly unknown[]) {
    if (Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 599) continue;
    throw optionError("statuses", status, "a status from 100 to 599");
  }
  return {
    ...amounts,
    replayLimit,
    methods: new Set(methods),
    statuses: new Set(statuses),
  };
}

const knownOptions: OptionNames<RetryOptions> = {
  owner: "retry",
  names: {
    retries: true,
    methods: true,
    statuses: true,
    baseDelay: true,
    maxDelay: true,
    maxRetryAfter: true,
    replayLimit: true,
  },
  otherNames: {
    limit: "retries",
    attempts: "retries",
    maxRetries: "retries",
    retry: "retries",
    count: "retries",
    statusCodes: "statuses",
    status: "statuses",
    delay: "baseDelay",
    minTimeout: "baseDelay",
    initialDelay: "baseDelay",
    maxTimeout: "maxDelay",
    backoffLimit: "maxDelay",
  },
};
