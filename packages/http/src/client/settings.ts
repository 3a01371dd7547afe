import { checkOptions } from "../check-options.ts";
import { plainDefaults, type RequestDefaults } from "./request/build-request-object.ts";
import { ClientLogger, type ClientLoggerOptions } from "./client-logger.ts";
import {
  headerList,
  withoutHeaders,
  type RequestHeaders,
  isCredentialHeader,
} from "./request/header-values.ts";
import { hookLists, type HookLists, type ClientHooks } from "./hooks.ts";
import type { QueryParameters } from "./request/add-query-parameters.ts";
import { defaultRedirects, redirectPolicy, type RedirectPolicy } from "./redirect.ts";
import { parseRequestUrl } from "./request/request-url.ts";
import { createRetryRules, type RetryRules } from "./retry.ts";
import { amount, optionError } from "../option-values.ts";
import {
  defaultTimeouts,
  mergeTimeouts,
  policyNames,
  type RequestPolicy,
  type Timeouts,
} from "./send-options.ts";

/** Keeps cookies for a client, such as a `CookieJar` of `tough-cookie`. */
export interface CookieStore {
  /** The `Cookie` field for a request to an absolute URL; empty when there are none. */
  getCookieString(url: string): string | Promise<string>;
  /** Takes a `Set-Cookie` line of a response from an absolute URL; ignores one not allowed. */
  setCookie(line: string, url: string, options: { readonly ignoreError: true }): unknown;
}

/** Settings that a client adds to its requests, and work that it does around them. */
export interface ClientSettings extends RequestPolicy {
  /** Absolute URL before relative ones, with one slash, no query or fragment. Default: none. */
  readonly baseUrl?: string | undefined;
  /**
   * Headers of every request that does not set or remove (`null`) them. Credentials go to the
   * origin of `baseUrl` only, if there is one. Default: `user-agent`.
   */
  readonly headers?: RequestHeaders | undefined;
  /** Query parameters of every request. Default: none. */
  readonly queryParams?: QueryParameters | undefined;
  /** Stores cookies; a request with a `Cookie` header gets none. Default: none. */
  readonly cookies?: CookieStore | undefined;
  /** Functions around requests. Default: none. */
  readonly hooks?: ClientHooks | undefined;
  /** Logs requests and responses, with secrets masked. Default: `false`. */
  readonly logger?: boolean | ClientLoggerOptions | undefined;
}

/** The same, checked and complete. */
export interface Settings extends RequestDefaults {
  readonly timeouts: Timeouts;
  readonly maxResponseSize: number | undefined;
  readonly redirect: RedirectPolicy | undefined;
  readonly retry: RetryRules | undefined;
  readonly throwOnStatus: boolean;
  readonly cookies: CookieStore | undefined;
  readonly hooks: HookLists | undefined;
  readonly logger: ClientLogger | undefined;
  /** Whether a request is one exchange and nothing else, unless it is redirected. */
  readonly isPlain: boolean;
}

/** The defaults. */
export const defaultSettings: Settings = Object.freeze({
  ...plainDefaults,
  timeouts: defaultTimeouts,
  maxResponseSize: undefined,
  redirect: defaultRedirects,
  retry: undefined,
  throwOnStatus: false,
  cookies: undefined,
  hooks: undefined,
  logger: undefined,
  isPlain: true,
});

/**
 * Lays options over settings.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`, or `ERR_HTTP_HEADER` for a default header
 */
export function extendSettings(base: Settings, options: ClientSettings): Settings {
  if (typeof options !== "object" || options === null) {
    throw optionError("options", options, "an object");
  }
  checkOptions<ClientSettings & { readonly transport?: unknown }>("Client", options, [
    ...policyNames,
    "baseUrl",
    "headers",
    "queryParams",
    "cookies",
    "hooks",
    "logger",
    "transport",
  ]);
  const { headers, queryParams, cookies, hooks, logger } = options;
  if (cookies !== undefined && typeof cookies?.getCookieString !== "function") {
    throw optionError("cookies", cookies, "a cookie jar");
  }
  if (queryParams !== undefined && (typeof queryParams !== "object" || queryParams === null)) {
    throw optionError("queryParams", queryParams, "an object");
  }
  const place = placeOf(options.baseUrl, base);
  const merged = {
    ...withPolicy(base, options),
    ...place,
    headers: headers === undefined ? place.headers : headerList(headers, place.headers),
    queryParams:
      queryParams === undefined ? base.queryParams : { ...base.queryParams, ...queryParams },
    cookies: cookies ?? base.cookies,
    hooks: hooks === undefined ? base.hooks : hookLists(hooks, base.hooks),
    logger: logger === undefined ? base.logger : logger ? new ClientLogger(logger) : undefined,
  };
  return { ...merged, isPlain: isPlain(merged) };
}

/** Lays the options of one request over settings. */
export function withPolicy(base: Settings, options: RequestPolicy): Settings {
  const { timeout, maxResponseSize, redirect, retry, throwOnStatus } = options;
  if (throwOnStatus !== undefined && typeof throwOnStatus !== "boolean") {
    throw optionError("throwOnStatus", throwOnStatus, "a boolean");
  }
  if (maxResponseSize !== undefined && maxResponseSize !== Number.POSITIVE_INFINITY) {
    amount(maxResponseSize, "maxResponseSize");
  }
  const changed = {
    ...base,
    timeouts: mergeTimeouts(timeout, base.timeouts),
    maxResponseSize: maxResponseSize ?? base.maxResponseSize,
    redirect: redirect === undefined ? base.redirect : redirectPolicy(redirect),
    retry: retry === undefined ? base.retry : retryPolicy(retry),
    throwOnStatus: throwOnStatus ?? base.throwOnStatus,
  };
  return { ...changed, isPlain: isPlain(changed) };
}

function isPlain({ timeouts, retry, cookies, hooks, logger }: Omit<Settings, "isPlain">): boolean {
  return (
    timeouts.total === 0 &&
    retry === undefined &&
    cookies === undefined &&
    hooks === undefined &&
    logger === undefined
  );
}

type Place = Pick<Settings, "baseUrl" | "origin" | "headers">;

function placeOf(given: string | undefined, base: Settings): Place {
  const { baseUrl, origin, headers } = base;
  if (given === undefined) return { baseUrl, origin, headers };
  if (typeof given !== "string" || /[?#]/.test(given)) {
    throw optionError("baseUrl", given, "an absolute URL without query and fragment");
  }
  const { url, authorization } = parseRequestUrl(given);
  // Credentials for one server do not become those for another one.
  const isMoved = origin !== undefined && origin !== url.origin;
  const kept = isMoved ? withoutHeaders(headers, isCredentialHeader) : headers;
  return {
    baseUrl: url.href,
    origin: url.origin,
    headers: authorization === undefined ? kept : headerList({ authorization }, kept),
  };
}

/** Reads the option `retry`; undefined when nothing is sent again. */
function retryPolicy(given: NonNullable<RequestPolicy["retry"]>): RetryRules | undefined {
  if (given === false) return undefined;
  const policy = createRetryRules(typeof given === "number" ? { retries: given } : given);
  return policy.retries === 0 ? undefined : policy;
}
