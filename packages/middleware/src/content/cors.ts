import type { Context, Handler, Middleware } from "@fetchwork/http";
import { addVary, changeHeaders, changeResult, empty } from "@fetchwork/http/responses";
import {
  checkAmount,
  checkFlag,
  checkHeaderName,
  checkOptions,
  optionError,
} from "../check-options.ts";
import { originMatcher, type OriginMatcher } from "./origin-matcher.ts";
import { place } from "../order.ts";

/** Decides about an origin, which is given as the browser sent it. */
type OriginCheck = (
  origin: string,
  request: Request,
  context: Context,
) => boolean | Promise<boolean>;

/** Returns the methods that an allowed origin may use. */
type MethodsFunction = (
  origin: string,
  request: Request,
  context: Context,
) => readonly string[] | Promise<readonly string[]>;

/** Options of {@link cors}. */
export interface CorsOptions {
  /**
   * Readers of the responses: origins such as `https://app.example.com`, all subdomains of a host
   * as `https://*.example.com`, regular expressions that match a whole origin (see
   * {@link originMatcher}), `null` for pages without an origin, `*` for everybody; or a function.
   * Default: `["*"]`.
   */
  readonly allowedOrigins?: readonly (string | RegExp)[] | OriginCheck | undefined;
  /** Default: GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD. */
  readonly allowedMethods?: readonly string[] | MethodsFunction | undefined;
  /**
   * Headers of requests; `"requested"` allows those that the preflight asks for. Default: Accept,
   * Content-Type, Authorization, X-Requested-With.
   */
  readonly allowedHeaders?: readonly string[] | "requested" | undefined;
  /** Headers of responses that scripts may read besides the safelisted ones. Default: none. */
  readonly exposedHeaders?: readonly string[] | undefined;
  /** Whether cookies and other credentials are sent along. Default: `false`. */
  readonly allowCredentials?: boolean | undefined;
  /**
   * Lets every site act in the name of its visitors: allows `*` or `null` with credentials, and
   * reflects the origin. Default: `false`.
   */
  readonly unsafeAnyOriginWithCredentials?: boolean | undefined;
  /**
   * For how long browsers keep the response to a preflight, in seconds. 0 asks them not to keep it.
   * Default: no header, and browsers keep it for 5 seconds (Fetch, 4.8).
   */
  readonly maxAge?: number | undefined;
}

/**
 * Lets pages of other origins read the responses (Fetch, 3.2), and responds to preflights with 204
 * without calling the handler.
 *
 * A request of an origin that is not allowed reaches the handler and gets no header. So the browser
 * keeps the response from the page; CORS does not protect the handler (see
 * `crossOriginProtection`). Every response has `Vary: Origin`, also a refused one and one without
 * `Origin`: a cache must not return the response of one to the other. Headers of CORS that the
 * handler sets stay. Put it outside of authentication, because preflights carry no credentials, and
 * outside of `recoverer`, so that pages can read errors.
 *
 * @example
 * ```ts
 * cors({ allowedOrigins: ["https://app.example.com"], allowCredentials: true, maxAge: 600 });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for invalid options, and for credentials with `*`
 */
export function cors(options: CorsOptions = {}): Middleware {
  checkOptions("cors", options, [
    "allowedOrigins",
    "allowedMethods",
    "allowedHeaders",
    "exposedHeaders",
    "allowCredentials",
    "unsafeAnyOriginWithCredentials",
    "maxAge",
  ]);
  const policy = makePolicy(options);
  const { allows } = policy;
  return place("cors", (next) => (request, context) => {
    const origin = request.headers.get("origin");
    if (origin === null) return changeResult(next(request, context), context, varyOnOrigin);
    const isAllowed = allows(origin, request, context);
    if (isAllowed instanceof Promise) {
      return isAllowed.then((allowed) =>
        respond({ request, context, next, policy }, isTrue(allowed) ? origin : undefined),
      );
    }
    return respond({ request, context, next, policy }, isTrue(isAllowed) ? origin : undefined);
  });
}

/** Anything but true is a refusal: an untyped check may return an object or an open promise. */
function isTrue(value: unknown): boolean {
  return value === true;
}

interface Policy {
  readonly allows: OriginCheck;
  /** Whether everybody gets the same `*`. */
  readonly isStar: boolean;
  /** Allowed methods when they depend on the request. */
  readonly methods: MethodsFunction | undefined;
  readonly reflectsHeaders: boolean;
  /** Names in lower case. */
  readonly preflight: readonly (readonly [string, string])[];
  readonly actual: readonly (readonly [string, string])[];
}

interface Exchange {
  readonly request: Request;
  readonly context: Context;
  readonly next: Handler;
  readonly policy: Policy;
}

function respond(
  { request, context, next, policy }: Exchange,
  origin: string | undefined,
): Response | Promise<Response> {
  const isPreflight =
    request.method === "OPTIONS" && request.headers.has("access-control-request-method");
  if (origin === undefined) {
    return changeResult(
      next(request, context),
      context,
      isPreflight ? varyOnPreflight : varyOnOrigin,
    );
  }
  const allowed = policy.isStar ? "*" : origin;
  if (isPreflight) {
    const methods = policy.methods?.(origin, request, context) ?? [];
    return methods instanceof Promise
      ? methods.then((list) =>
          respondToPreflight({ request, context, next, policy }, allowed, list),
        )
      : respondToPreflight({ request, context, next, policy }, allowed, methods);
  }
  return changeResult(next(request, context), context, (headers) => {
    varyOnOrigin(headers);
    if (headers.has("access-control-allow-origin")) return;
    headers.set("access-control-allow-origin", allowed);
    for (const [name, value] of policy.actual) headers.set(name, value);
  });
}

function respondToPreflight(
  { request, context, policy }: Exchange,
  allowed: string,
  methods: readonly string[],
): Response {
  checkList(methods, "allowedMethods");
  const requested = request.headers.get("access-control-request-headers") ?? "";
  const isReflected = policy.reflectsHeaders && headerNames.test(requested);
  const response = empty(204, {
    headers: [
      ["access-control-allow-origin", allowed],
      ...policy.preflight.map(copyPair),
      ...listHeader("access-control-allow-methods", methods).map(copyPair),
      ...listHeader("access-control-allow-headers", isReflected ? [requested] : []).map(copyPair),
    ],
  });
  return changeHeaders(response, context, varyOnPreflight);
}

const headerNames = /^[\w!#$%&'*+\-.^`|~]+(?: *, *[\w!#$%&'*+\-.^`|~]+)*$/;

function varyOnOrigin(headers: Headers): void {
  addVary(headers, "Origin");
}

function varyOnPreflight(headers: Headers): void {
  addVary(headers, "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers");
}

function copyPair([name, value]: readonly [string, string]): [string, string] {
  return [name, value];
}

function makePolicy(options: CorsOptions): Policy {
  const {
    allowedOrigins = ["*"],
    allowedMethods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"],
    allowedHeaders = ["Accept", "Content-Type", "Authorization", "X-Requested-With"],
    exposedHeaders = [],
    allowCredentials = false,
    unsafeAnyOriginWithCredentials = false,
    maxAge,
  } = options;
  const methods = typeof allowedMethods === "function" ? allowedMethods : undefined;
  const fixedMethods = typeof allowedMethods === "function" ? [] : allowedMethods;
  const reflectsHeaders = allowedHeaders === "requested";
  const fixedHeaders = allowedHeaders === "requested" ? [] : allowedHeaders;
  checkList(fixedMethods, "allowedMethods");
  checkList(fixedHeaders, "allowedHeaders");
  checkList(exposedHeaders, "exposedHeaders");
  if (maxAge !== undefined) {
    checkAmount(maxAge, "maxAge", 0);
    if (maxAge === Infinity) throw optionError("maxAge", maxAge, "a number of seconds");
  }
  checkFlag(allowCredentials, "allowCredentials");
  checkFlag(unsafeAnyOriginWithCredentials, "unsafeAnyOriginWithCredentials");
  const isStar = checkOrigins(allowedOrigins, allowCredentials, unsafeAnyOriginWithCredentials);
  if (allowCredentials) {
    const starred = Object.entries({
      allowedMethods: fixedMethods,
      allowedHeaders: fixedHeaders,
      exposedHeaders,
    }).find(([, list]) => list.includes("*"));
    // Fetch, 3.2.2: with credentials it is the name of a header or method, and allows nothing.
    if (starred) throw optionError(starred[0], "*", "names, because credentials are allowed");
  }
  const credentials: [string, string][] = allowCredentials
    ? [["access-control-allow-credentials", "true"]]
    : [];
  return {
    allows: typeof allowedOrigins === "function" ? allowedOrigins : listCheck(allowedOrigins),
    isStar: isStar && !allowCredentials,
    methods,
    reflectsHeaders,
    preflight: [
      ...credentials,
      ...listHeader("access-control-allow-methods", fixedMethods),
      ...listHeader("access-control-allow-headers", fixedHeaders),
      ...listHeader("access-control-max-age", maxAge === undefined ? [] : [String(maxAge)]),
    ],
    actual: [...credentials, ...listHeader("access-control-expose-headers", exposedHeaders)],
  };
}

/** Whether everybody is allowed. */
function checkOrigins(
  origins: readonly (string | RegExp)[] | OriginCheck,
  allowCredentials: boolean,
  isUnsafe: boolean,
): boolean {
  if (typeof origins === "function") return false;
  if (!Array.isArray(origins))
    throw optionError("allowedOrigins", origins, "a list of origins, or a function");
  const entries: readonly (string | RegExp)[] = origins;
  const dangerous =
    ["*", "null"].find((entry) => entries.includes(entry)) ?? entries.find(matchesEverybody);
  if (allowCredentials && !isUnsafe && dangerous !== undefined) {
    throw optionError(
      "allowedOrigins",
      String(dangerous),
      "origins, because allowCredentials is set: with it every site would act in the name of its visitors" +
        " (unsafeAnyOriginWithCredentials allows that)",
    );
  }
  return origins.includes("*");
}

/** Whether a pattern allows an implausible origin, or `null`. */
function matchesEverybody(entry: string | RegExp): boolean {
  if (!(entry instanceof RegExp)) return false;
  const matches = originMatcher([entry]);
  return matches("https://anybody.invalid") || matches("null");
}

function listCheck(origins: readonly (string | RegExp)[]): OriginCheck {
  const matches: OriginMatcher = originMatcher(origins.filter((entry) => entry !== "*"));
  return origins.includes("*") ? () => true : (origin) => matches(origin);
}

function listHeader(name: string, values: readonly string[]): (readonly [string, string])[] {
  return values.length === 0 ? [] : [[name, values.join(", ")]];
}

function checkList(list: unknown, what: string): void {
  if (!Array.isArray(list)) throw optionError(what, list, "a list of names");
  for (const name of list as readonly unknown[]) checkHeaderName(name, what);
}
