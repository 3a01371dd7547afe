import { parseRetryAfter } from "@fetchwork/kit";
import { nameCheck } from "../check-names.ts";
import type { RequestObject } from "./request/build-request-object.ts";
import { hasHeader } from "./request/header-values.ts";
import { headerValues } from "./response/response-headers.ts";
import { ResponseHead } from "./response/rest-response.ts";
import { amount, milliseconds, optionError } from "./option-values.ts";
import { ConnectionError, ProtocolError, TimeoutError } from "./transport/transport-errors.ts";
import type { TransportHead } from "./transport/transport.ts";

/** How an attempt ended that may be repeated. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly method: string;
  /** The response, if there was one. */
  readonly response: ResponseHead | undefined;
  /** What went wrong, if there was none. */
  readonly error: unknown;
}

/** Whether and how a request is sent again. */
export interface RetryOptions {
  /** How often a request is sent again at most. Default: 2. */
  readonly retries?: number | undefined;
  /** Methods that may be sent twice. Default: GET, HEAD, OPTIONS, PUT, DELETE; others with an `Idempotency-Key`. */
  readonly methods?: readonly string[] | undefined;
  /**
   * Statuses after which a request is sent again. Default: 408, 425, 429, 500, 502, 503, 504, and 413 with a
   * `Retry-After`.
   */
  readonly statuses?: readonly number[] | undefined;
  /** Longest pause before the first repetition, in milliseconds; it doubles each time. Default: 200. */
  readonly baseDelay?: number | undefined;
  /** Longest pause of all, in milliseconds. Default: 30_000. */
  readonly maxDelay?: number | undefined;
  /** `Retry-After` that is waited for at most, in milliseconds; a longer one is the answer. Default: 60_000. */
  readonly maxRetryAfter?: number | undefined;
  /**
   * Decides before the rules do: true repeats, whatever the method and the failure are, false does not, undefined
   * leaves it to the rules. Not asked after `retries`, after an abort, after the total timeout, nor for a body that is
   * a stream. Default: none.
   */
  readonly shouldRetry?:
    ((failed: FailedAttempt) => boolean | undefined | Promise<boolean | undefined>) | undefined;
}

/** The same, checked. */
export interface RetryPolicy {
  readonly retries: number;
  readonly methods: ReadonlySet<string>;
  readonly statuses: ReadonlySet<number>;
  readonly baseDelay: number;
  readonly maxDelay: number;
  readonly maxRetryAfter: number;
  readonly shouldRetry: RetryOptions["shouldRetry"];
  readonly repeatsTooLarge: boolean;
}

const checkNames = nameCheck<RetryOptions>({
  owner: "retry",
  names: {
    retries: true,
    methods: true,
    statuses: true,
    baseDelay: true,
    maxDelay: true,
    maxRetryAfter: true,
    shouldRetry: true,
  },
  otherNames: {
    attempts: "retries",
    backoffLimit: "maxDelay",
    count: "retries",
    delay: "baseDelay",
    limit: "retries",
    max: "retries",
    maxRetries: "retries",
    maxTimeout: "maxDelay",
    minDelay: "baseDelay",
    minTimeout: "baseDelay",
    retry: "retries",
    retryCondition: "shouldRetry",
    retryDelay: "baseDelay",
    statusCodes: "statuses",
  },
});

/**
 * Checks options; undefined when nothing is repeated.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export function retryPolicy(given: false | number | RetryOptions): RetryPolicy | undefined {
  if (given === false) return undefined;
  if (typeof given !== "number" && (typeof given !== "object" || given === null)) {
    throw optionError("retry", given, "false, a number or an object");
  }
  const options: RetryOptions = typeof given === "number" ? { retries: given } : given;
  checkNames(options);
  const {
    retries = 2,
    methods = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"],
    statuses = [408, 425, 429, 500, 502, 503, 504],
    baseDelay = 200,
    maxDelay = 30_000,
    maxRetryAfter = 60_000,
    shouldRetry,
  } = options;
  if (!Array.isArray(methods)) throw optionError("retry.methods", methods, "a list of methods");
  if (!Array.isArray(statuses)) throw optionError("retry.statuses", statuses, "a list of statuses");
  if (shouldRetry !== undefined && typeof shouldRetry !== "function") {
    throw optionError("retry.shouldRetry", shouldRetry, "a function");
  }
  if (amount(retries, "retry.retries") === 0) return undefined;
  return {
    retries,
    methods: new Set(methods.map((method: unknown) => String(method).toUpperCase())),
    statuses: new Set(statuses),
    baseDelay: milliseconds(baseDelay, "retry.baseDelay"),
    maxDelay: milliseconds(maxDelay, "retry.maxDelay"),
    maxRetryAfter: milliseconds(maxRetryAfter, "retry.maxRetryAfter"),
    shouldRetry,
    repeatsTooLarge: options.statuses === undefined,
  };
}

/** How an attempt ended. */
export type Outcome = { readonly response: TransportHead } | { readonly error: unknown };

/** Milliseconds to wait before the next attempt; undefined when there is none. */
export async function retryDelay(
  policy: RetryPolicy,
  request: RequestObject,
  attempt: number,
  outcome: Outcome,
): Promise<number | undefined> {
  if (attempt > policy.retries || request.body instanceof ReadableStream) return undefined;
  const response = "response" in outcome ? outcome.response : undefined;
  const error = "error" in outcome ? outcome.error : undefined;
  const asked = response === undefined ? undefined : askedDelay(response);
  if (asked !== undefined && asked > policy.maxRetryAfter) return undefined;
  const decided = await policy.shouldRetry?.({
    attempt,
    method: request.method,
    response: response === undefined ? undefined : new ResponseHead(response),
    error,
  });
  const repeats = decided ?? (mayRepeat(policy, request) && isTransient(policy, outcome, asked));
  if (!repeats) return undefined;
  // Full jitter: clients that failed together do not come back together.
  const longest = Math.min(policy.maxDelay, policy.baseDelay * 2 ** (attempt - 1));
  return Math.max(Math.random() * longest, asked ?? 0);
}

function mayRepeat({ methods }: RetryPolicy, { method, headers }: RequestObject): boolean {
  return methods.has(method) || hasHeader(headers, "idempotency-key");
}

function isTransient(policy: RetryPolicy, outcome: Outcome, asked: number | undefined): boolean {
  if ("response" in outcome) {
    const { status } = outcome.response;
    const isTooLarge = policy.repeatsTooLarge && status === 413 && asked !== undefined;
    return isTooLarge || policy.statuses.has(status);
  }
  const { error } = outcome;
  if (error instanceof TimeoutError) return error.phase !== "total";
  if (error instanceof ConnectionError) return error.reason !== "tls" && error.reason !== "proxy";
  return error instanceof ProtocolError;
}

function askedDelay({ headers }: TransportHead): number | undefined {
  const [field] = headerValues(headers, "retry-after");
  return field === undefined ? undefined : parseRetryAfter(field);
}
