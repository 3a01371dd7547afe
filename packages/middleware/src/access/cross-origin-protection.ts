import type { Handler, Middleware } from "@fetchwork/http";
import { bypassPattern, type RequestMatcher } from "../path/bypass-pattern.ts";
import {
  checkFlag,
  checkFunction,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import { RequestError } from "../errors.ts";
import { refuse } from "../response/plain-response.ts";
import { hostOf } from "../request/request-url.ts";

/** Options of {@link crossOriginProtection}. */
export interface CrossOriginProtectionOptions {
  /** Allowed origins; see {@link CrossOriginProtection.addTrustedOrigin}. Default: none. */
  readonly trustedOrigins?: readonly string[] | undefined;
  /** Unchecked requests; see {@link CrossOriginProtection.addBypassPattern}. Default: none. */
  readonly bypassPatterns?: readonly string[] | undefined;
  /** Responds to refused requests. Default: 403 and the reason as plain text. */
  readonly denyHandler?: Handler | undefined;
  /**
   * Checks requests with an `Upgrade` header too, though they are `GET`: a WebSocket is not bound
   * to its page's origin. Default: `false`, as in Go.
   */
  readonly checkUpgrades?: boolean | undefined;
}

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "QUERY"]);

// RFC 6454, 6.1: exactly `scheme://host[:port]`. A URL parser would find `victim.com` in
// `http://evil@victim.com`.
const originPattern = /^([a-z][a-z\d+.-]*):\/\/([a-z\d._~-]+|\[[\da-f:.]+\])(?::([1-9]\d{0,4}))?$/;

const defaultPorts: Readonly<Record<string, string>> = { http: "80", https: "443" };

/**
 * Refuses requests that a browser sends for a page of another origin. So no such page can act for a
 * user (CSRF). No token and no cookie is needed: browsers send where a request comes from in
 * `Sec-Fetch-Site`, older ones in `Origin`.
 *
 * - `GET`, `HEAD`, `OPTIONS` and `QUERY` pass: they must not change anything.
 * - `Sec-Fetch-Site` of `same-origin` or `none` passes, every other value is refused.
 * - Without it, an `Origin` of HTTP(S) passes whose host and port are those of the request. The
 *   scheme is not compared, since a proxy may end TLS; send `Strict-Transport-Security`.
 * - Without both it does not come from a browser, and passes.
 *
 * The semantics are those of Go 1.25's `http.CrossOriginProtection`.
 *
 * @example
 * ```ts
 * const protection = new CrossOriginProtection();
 * protection.addTrustedOrigin("https://sso.example.com");
 * protection.addBypassPattern("POST /webhooks/{vendor}");
 * const handler = wrap(routes, protection.handler);
 * ```
 */
export class CrossOriginProtection {
  readonly #trustedOrigins = new Set<string>();
  readonly #bypasses: RequestMatcher[] = [];
  readonly #checkUpgrades: boolean;
  #denyHandler: Handler | undefined;

  /** @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` or `ERR_MIDDLEWARE_PATTERN` */
  constructor(options: CrossOriginProtectionOptions = {}) {
    checkOptions("crossOriginProtection", options, [
      "trustedOrigins",
      "bypassPatterns",
      "denyHandler",
      "checkUpgrades",
    ]);
    const {
      trustedOrigins = [],
      bypassPatterns = [],
      denyHandler,
      checkUpgrades = false,
    } = options;
    checkFlag(checkUpgrades, "checkUpgrades");
    checkTexts(trustedOrigins, "trustedOrigins");
    checkTexts(bypassPatterns, "bypassPatterns");
    this.#checkUpgrades = checkUpgrades;
    for (const origin of trustedOrigins) this.addTrustedOrigin(origin);
    for (const pattern of bypassPatterns) this.addBypassPattern(pattern);
    this.setDenyHandler(denyHandler ?? null);
  }

  /**
   * Allows all requests of an origin.
   *
   * @param origin - `scheme://host[:port]`; case and one slash at the end do not matter, a default
   * port is dropped.
   * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
   */
  addTrustedOrigin(origin: string): void {
    const text = typeof origin === "string" ? origin.replace(/\/$/, "").toLowerCase() : "";
    const parts = originPattern.exec(text);
    const [, scheme = "", host = "", port] = parts ?? [];
    if (parts === null || !URL.canParse(text)) {
      throw optionError("origin", origin, "scheme://host[:port]");
    }
    const isDefault = port === undefined || port === defaultPorts[scheme];
    this.#trustedOrigins.add(isDefault ? `${scheme}://${host}` : `${scheme}://${host}:${port}`);
  }

  /**
   * Leaves requests unchecked that match a pattern such as `/oauth/` (and all below it),
   * `POST /hooks/{vendor}` or `api.example.com/`; see {@link bypassPattern}. Their effects must be
   * safe for any page to cause.
   *
   * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN`
   */
  addBypassPattern(pattern: string): void {
    this.#bypasses.push(bypassPattern(pattern));
  }

  /**
   * Sets the handler that responds to refused requests; null for the default, 403 and the reason as
   * plain text.
   *
   * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
   */
  setDenyHandler(handler: Handler | null): void {
    if (handler !== null) checkFunction(handler, "denyHandler");
    this.#denyHandler = handler ?? undefined;
  }

  /** The error of a refusal, with status 403; undefined when a request may pass. Sends nothing. */
  check(request: Request): RequestError | undefined {
    if (safeMethods.has(request.method)) {
      if (!this.#checkUpgrades || !request.headers.has("upgrade")) return undefined;
    }
    const site = request.headers.get("sec-fetch-site") ?? "";
    if (site === "same-origin" || site === "none") return undefined;
    const origin = request.headers.get("origin") ?? "";
    if (site === "") {
      if (origin === "" || isSameHost(origin, request.url)) return undefined;
    }
    if (this.#isExempt(request, origin)) return undefined;
    return new RequestError(
      "ERR_MIDDLEWARE_CROSS_ORIGIN",
      403,
      site === ""
        ? "cross-origin request detected, and/or browser is out of date: Sec-Fetch-Site is missing, and Origin does not match Host"
        : "cross-origin request detected from Sec-Fetch-Site header",
    );
  }

  /** The middleware. Origins, patterns and deny handlers may be added later. */
  readonly handler: Middleware = (next) => (request, context) => {
    const error = this.check(request);
    if (error === undefined) return next(request, context);
    return this.#denyHandler?.(request, context) ?? refuse(403, error.message);
  };

  #isExempt(request: Request, origin: string): boolean {
    if (this.#trustedOrigins.has(origin.toLowerCase())) return true;
    return this.#bypasses.some((matches) => matches(request));
  }
}

/**
 * {@link CrossOriginProtection} as a middleware.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` or `ERR_MIDDLEWARE_PATTERN`
 */
export function crossOriginProtection(options: CrossOriginProtectionOptions = {}): Middleware {
  return new CrossOriginProtection(options).handler;
}

function isSameHost(origin: string, url: string): boolean {
  const parts = originPattern.exec(origin.toLowerCase());
  if (parts === null) return false;
  const [, scheme = "", host = "", port] = parts;
  const ownPort = Object.hasOwn(defaultPorts, scheme) ? defaultPorts[scheme] : undefined;
  // A page that can be at this host came over HTTP: `app://example.com` is another origin.
  if (ownPort === undefined) return false;
  // A request behind a proxy that ends TLS may name the port that belongs to the page's scheme.
  const hostAndPort = port === undefined || port === ownPort ? host : `${host}:${port}`;
  const target = hostOf(url);
  return target === hostAndPort || target === `${hostAndPort}:${ownPort}`;
}
