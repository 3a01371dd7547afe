import { backoffDelay, requestedDelay, UsageError } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { amount, milliseconds, optionError } from "../option-values.ts";
import type { ResponseHead } from "./response/rest-response.ts";
import {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TransportError,
} from "./transport/transport-errors.ts";

/** A failed attempt, which may be repeated. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly method: string;
  /** The response, if there was one. */
  readonly response: ResponseHead | undefined;
  /** The error, if there was no response. */
  readonly error: unknown;
}

/** Whether and how a request is sent again. */
export interface RetryOptions {
  /** Maximum number of times that a request is sent again. Default: 2. */
  readonly retries?: number | undefined;
  /** Methods that may be repeated. Default: idempotent ones, others with `Idempotency-Key`. */
  readonly methods?: readonly string[] | undefined;
  /**
   * Statuses after which a request is sent again. Default: 408, 425, 429, 500, 502, 503, 504, and
   * 413 with a `Retry-After`.
   */
  readonly statuses?: readonly number[] | undefined;
  /** Maximum delay before the first retry, in milliseconds; it doubles each time. Default: 200. */
  readonly baseDelay?: number | undefined;
  /** Maximum delay, in milliseconds. Default: 30_000. */
  readonly maxDelay?: number | undefined;
  /**
   * Maximum delay that a server can ask for by `Retry-After`, or by `RateLimit-Reset` and the like
   * with status 413, 429 or 503, in milliseconds; a response that asks for more is not retried.
   * Default: 60_000.
   */
  readonly maxRetryAfter?: number | undefined;
  /**
   * Decides before the rules do: true retries, whatever the method and the failure are, false does
   * not, undefined leaves it to the rules. Not called after `retries`, after an abort, after the
   * total timeout, nor for a body that is a stream. Default: none.
   */
  readonly shouldRetry?:
    ((failed: FailedAttempt) => boolean | undefined | Promise<boolean | undefined>) | undefined;
}

/** Rules of retries: checked options. */
export interface RetryRules {
  readonly retries: number;
  readonly methods: ReadonlySet<string>;
  readonly statuses: ReadonlySet<number>;
  readonly baseDelay: number;
  readonly maxDelay: number;
  readonly maxRetryAfter: number;
  readonly shouldRetry: RetryOptions["shouldRetry"];
  /** Whether a 413 with a requested delay is retried. */
  readonly retriesTooLarge: boolean;
}

/** Names of {@link RetryOptions}, for the options that extend it. */
export const retryOptionNames: readonly (keyof RetryOptions)[] = [
  "retries",
  "methods",
  "statuses",
  "baseDelay",
  "maxDelay",
  "maxRetryAfter",
  "shouldRetry",
];

/**
 * Makes rules of retries from options, for `Client` and for the middleware `retry` alike.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export function createRetryRules(options: RetryOptions = {}): RetryRules {
  if (typeof options !== "object" || options === null) {
    throw optionError("retry", options, "false, a number or an object");
  }
  checkOptions<RetryOptions>("retry", options, retryOptionNames);
  const {
    retries = 2,
    methods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "QUERY"],
    statuses = [408, 425, 429, 500, 502, 503, 504],
    baseDelay = 200,
    maxDelay = 30_000,
    maxRetryAfter = 60_000,
    shouldRetry,
  } = options;
  if (!Array.isArray(methods) || methods.some((method) => typeof method !== "string")) {
    throw optionError("retry.methods", methods, "a list of methods");
  }
  if (!Array.isArray(statuses)) throw optionError("retry.statuses", statuses, "a list of statuses");
  for (const status of statuses as readonly unknown[]) {
    if (Number.isInteger(status) && Number(status) >= 100 && Number(status) <= 599) continue;
    throw optionError("retry.statuses", status, "statuses from 100 to 599");
  }
  if (shouldRetry !== undefined && typeof shouldRetry !== "function") {
    throw optionError("retry.shouldRetry", shouldRetry, "a function");
  }
  return {
    retries: amount(retries, "retry.retries"),
    methods: new Set(methods.map((method: string) => method.toUpperCase())),
    statuses: new Set(statuses),
    baseDelay: milliseconds(baseDelay, "retry.baseDelay"),
    maxDelay: milliseconds(maxDelay, "retry.maxDelay"),
    maxRetryAfter: milliseconds(maxRetryAfter, "retry.maxRetryAfter"),
    shouldRetry,
    retriesTooLarge: options.statuses === undefined,
  };
}

/** Facts of a request that the rules need. */
export interface RepeatedRequest {
  readonly method: string;
  readonly hasIdempotencyKey: boolean;
}

/** How an attempt ended: with a response or an error. */
export interface AttemptOutcome {
  readonly response?:
    | {
        readonly status: number;
        readonly headers: Pick<Headers, "get">;
        /** Makes what `shouldRetry` gets. */
        readonly toHead: () => ResponseHead;
      }
    | undefined;
  readonly error?: unknown;
  /** Whether a handler threw it: an unknown error of `fetch` is a network failure. */
  readonly isOfHandler?: boolean | undefined;
}

/** Whether the rules allow a request to be sent twice (RFC 9110, 9.2.2). */
export function mayRetry({ methods }: RetryRules, request: RepeatedRequest): boolean {
  return request.hasIdempotencyKey || methods.has(request.method);
}

/**
 * Returns how long to wait before the next attempt, in milliseconds; undefined when there is none.
 *
 * @param attempt - Number of attempts so far, at least 1.
 */
export async function retryDelay(
  policy: RetryRules,
  request: RepeatedRequest,
  attempt: number,
  { response, error, isOfHandler = false }: AttemptOutcome,
): Promise<number | undefined> {
  if (attempt > policy.retries) return undefined;
  const requested = response === undefined ? undefined : requestedDelay(response);
  if (requested !== undefined && requested > policy.maxRetryAfter) return undefined;
  const { method } = request;
  const decided = await policy.shouldRetry?.({
    attempt,
    method,
    response: response?.toHead(),
    error,
  });
  const isTransient =
    response === undefined
      ? isTransientError(error, isOfHandler)
      : policy.statuses.has(response.status) ||
        (policy.retriesTooLarge && response.status === 413 && requested !== undefined);
  if (!(decided ?? (mayRetry(policy, request) && isTransient))) return undefined;
  const { baseDelay, maxDelay } = policy;
  return Math.max(backoffDelay(attempt, { baseDelay, maxDelay }), requested ?? 0);
}

/** Whether a retry may help: not after an abort, total timeout, TLS or proxy fault. */
function isTransientError(error: unknown, isOfHandler: boolean): boolean {
  if (error instanceof TimeoutError) return error.phase !== "total";
  if (error instanceof ConnectionError) return error.reason !== "tls" && error.reason !== "proxy";
  if (error instanceof TransportError) return error instanceof ProtocolError;
  const isAbort = error instanceof Error && error.name === "AbortError";
  return isOfHandler && !isAbort && !(error instanceof UsageError);
}
