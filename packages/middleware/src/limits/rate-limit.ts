import type { Context, Middleware } from "@fetchwork/http";
import { changeHeaders, setDefault } from "@fetchwork/http/responses";
import { formatIP, networkAddress, parseIP } from "@fetchwork/kit";
import { checkFunction, checkOptions, optionError } from "../check-options.ts";
import { memoryRateLimitStore } from "./memory-rate-limit-store.ts";
import { refuse } from "../response/plain-response.ts";
import type { RateLimitStore, RateLimitVerdict } from "./rate-limit-store.ts";
import { clientAddressReader, type RealIPOptions } from "../address/client-address.ts";
import { shortHash } from "../runtime/short-hash.ts";
import { place } from "../order.ts";

/** Options of {@link rateLimit}. */
export interface RateLimitOptions extends RealIPOptions {
  /** Requests that a key may make in any window. */
  readonly limit: number;
  /** Length of the window in milliseconds, up to a year. Default: `60_000`. */
  readonly window?: number | undefined;
  /** Names the policy in headers and keys; letters, digits and `_ . : -`. Default: `default`. */
  readonly name?: string | undefined;
  /**
   * Returns the key whose quota a request uses; `undefined` for none. Must not contain secrets: the
   * key is stored. Default: the client's address, as {@link getRealIP} finds it; the first 64 bits
   * of an IPv6 address, because a subscriber has all addresses of at least a /64.
   */
  readonly key?:
    | ((request: Request, context: Context) => string | undefined | Promise<string | undefined>)
    | undefined;
  /**
   * Stores the counts. When it fails, the response is 503 and the error is reported through
   * `context.waitUntil`. Default: a new {@link memoryRateLimitStore}.
   */
  readonly store?: RateLimitStore | undefined;
  /** Makes the response beyond the limit; headers are added. Default: 429, plain text. */
  readonly respond?: ((request: Request, context: Context) => Response) | undefined;
}

const year = 31_536_000_000;
const maxKeyLength = 200;

/**
 * Limits how often a client may send requests: no window of the given length lets more requests of
 * one key pass than the limit.
 *
 * Every response states it in `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-11): `q` and `w` are limit and window in seconds, `r` is
 * what remains, `t` the seconds until more does, at most `w`. A request beyond the limit gets 429
 * and `Retry-After`, and does not count. A limit of up to ten is counted request by request; with a
 * higher one, requests within a tenth of the window count until the last of them leaves it. Several
 * policies around one handler need different names.
 *
 * Without `trustedProxies`, here or in `realIp`, clients name their own address and so their own
 * quota.
 *
 * @example
 * ```ts
 * rateLimit({ limit: 100, window: 60_000, trustedProxies: ["10.0.0.0/8"] });
 * rateLimit({ limit: 5, window: 900_000, name: "user", key: (request, context) => authorizedUser(context) });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  checkOptions("rateLimit", options, [
    "limit",
    "window",
    "name",
    "key",
    "store",
    "respond",
    "trustedProxies",
    "headers",
  ]);
  const { limit, window = 60_000, name = "default", store, key } = options;
  const { trustedProxies, headers, respond = tooManyRequests } = options;
  checkRange(limit, "limit", 1, 999_999_999_999);
  checkRange(window, "window", 1, year);
  if (typeof name !== "string" || !/^[\w.:-]{1,100}$/.test(name))
    throw optionError("name", name, "letters, digits and _ . : -");
  if (key !== undefined) checkFunction(key, "key");
  checkFunction(respond, "respond");
  if (store !== undefined && typeof store?.take !== "function") {
    throw optionError("store", store, "a store of rate limits");
  }
  const readAddress = clientAddressReader({ trustedProxies, headers });
  const keyOf =
    key ??
    ((request: Request, context: Context): string => addressKey(readAddress(request, context)));
  const counts = store ?? memoryRateLimitStore();
  const quota = { limit, window };
  const policy = `"${name}";q=${limit};w=${Math.ceil(window / 1000)}`;

  return place("rateLimit", (next) => {
    const judge = (
      verdict: RateLimitVerdict,
      request: Request,
      context: Context,
    ): Response | Promise<Response> => {
      const seconds = Math.max(Math.ceil(verdict.resetAfter / 1000), 1);
      const state = `"${name}";r=${verdict.remaining};t=${seconds}`;
      const change = (response: Response): Response =>
        changeHeaders(response, context, (headers) => {
          addMember(headers, "ratelimit-policy", policy, name);
          addMember(headers, "ratelimit", state, name);
        });
      if (!verdict.isAllowed) {
        return change(
          changeHeaders(respond(request, context), context, (headers) =>
            setDefault(headers, "retry-after", String(seconds)),
          ),
        );
      }
      const result = next(request, context);
      return result instanceof Promise ? result.then(change) : change(result);
    };

    const limited = (
      owner: string | undefined,
      request: Request,
      context: Context,
    ): Response | Promise<Response> => {
      if (owner === undefined) return next(request, context);
      const fail = (cause: unknown): Response => {
        context.waitUntil(
          Promise.reject(new Error("the store of the rate limit failed", { cause })),
        );
        return unavailable();
      };
      let verdict: RateLimitVerdict | Promise<RateLimitVerdict>;
      try {
        verdict = counts.take(`${name}:${shorten(owner)}`, quota);
      } catch (error) {
        return fail(error);
      }
      return verdict instanceof Promise
        ? verdict.then((settled) => judge(settled, request, context), fail)
        : judge(verdict, request, context);
    };

    return (request, context) => {
      const owner = keyOf(request, context);
      return owner instanceof Promise
        ? owner.then((key) => limited(key, request, context))
        : limited(owner, request, context);
    };
  });
}

/** Adds a member to a list of structured fields (RFC 9651), unless its policy is there. */
function addMember(headers: Headers, field: string, member: string, name: string): void {
  const present = headers.get(field);
  if (present === null) headers.set(field, member);
  else if (!present.includes(`"${name}"`)) headers.set(field, `${present}, ${member}`);
}

/** All clients with an unknown address share one quota. */
function addressKey(address: string | undefined): string {
  const parsed = address === undefined ? undefined : parseIP(address);
  if (parsed === undefined) return "unknown";
  if (parsed.version === 4) return formatIP(parsed);
  return `${formatIP(networkAddress(parsed, 64))}/64`;
}

/** Keys take a bounded place, and different ones stay different. */
function shorten(key: string): string {
  return key.length <= maxKeyLength ? key : `${key.slice(0, 100)}:${shortHash(key)}`;
}

function tooManyRequests(): Response {
  return refuse(429, "Too Many Requests");
}

function unavailable(): Response {
  const response = refuse(503, "Service Unavailable");
  response.headers.set("retry-after", "5");
  return response;
}

function checkRange(value: unknown, what: string, min: number, max: number): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
  throw optionError(what, value, `a whole number from ${min} to ${max}`);
}
