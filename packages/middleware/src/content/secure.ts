import type { Context, Middleware } from "@fetchwork/http";
import { changeResult, setDefault } from "@fetchwork/http/responses";
import { encodeBase64 } from "@fetchwork/kit";
import {
  checkAmount,
  checkFlag,
  checkHeaderValue,
  checkOptions,
  optionError,
} from "../check-options.ts";
import { cspNonceKey, policyWriter, type PolicyDirectives } from "./content-security-policy.ts";
import { place } from "../order.ts";
import { httpsCheck, type HttpsCheckOptions } from "../address/is-https.ts";

export { cspNonceKey } from "./content-security-policy.ts";

/** Parts of `Strict-Transport-Security` (RFC 6797, 6.1). */
interface HstsOptions {
  /** Seconds for which a browser uses HTTPS only; 0: no header. Default: `31_536_000`. */
  readonly maxAge?: number | undefined;
  /** Whether it counts for subdomains too. Default: `true`. */
  readonly includeSubdomains?: boolean | undefined;
  /** Consents to lists built into browsers, which are hard to leave. Default: `false`. */
  readonly preload?: boolean | undefined;
}

/** Options of {@link secure}. An empty text sends no header. */
export interface SecureOptions extends HttpsCheckOptions {
  /** `X-Frame-Options`: `DENY`, `SAMEORIGIN`, or empty. Default: `DENY`. */
  readonly frameOptions?: "" | "DENY" | "SAMEORIGIN" | undefined;
  /** Whether to send `X-Content-Type-Options: nosniff`. Default: `true`. */
  readonly contentTypeNosniff?: boolean | undefined;
  /** `Referrer-Policy`. Default: `strict-origin-when-cross-origin`. */
  readonly referrerPolicy?: string | undefined;
  /**
   * `Content-Security-Policy`: a text, a function of the request, or directives, in which `'nonce'`
   * stands for a nonce of the request that the handler finds under {@link cspNonceKey}. Default:
   * none.
   */
  readonly contentSecurityPolicy?: string | PolicyFunction | PolicyOptions | undefined;
  /** `Permissions-Policy`. Default: none. */
  readonly permissionsPolicy?: string | undefined;
  /** `Strict-Transport-Security` over HTTPS; false: none. Default: a year, subdomains. */
  readonly hsts?: HstsOptions | false | undefined;
  /** `X-XSS-Protection`, which browsers ignore today; `0`: off. Default: `1; mode=block`. */
  readonly xssProtection?: string | undefined;
  /** `Cross-Origin-Opener-Policy`, such as `same-origin`. Default: none. */
  readonly crossOriginOpenerPolicy?: string | undefined;
  /** `Cross-Origin-Resource-Policy`, such as `same-site`. Default: none. */
  readonly crossOriginResourcePolicy?: string | undefined;
  /** `Cross-Origin-Embedder-Policy`, such as `require-corp`. Default: none. */
  readonly crossOriginEmbedderPolicy?: string | undefined;
}

/** A `Content-Security-Policy` in parts. */
interface PolicyOptions {
  /** Directives with their sources, such as `{ "default-src": ["'self'"] }`. */
  readonly directives: PolicyDirectives;
}

/** Makes the `Content-Security-Policy` of one response. */
type PolicyFunction = (request: Request, context: Context) => string;

/**
 * Sets headers that make browsers careful, each only where the handler set none: `X-Frame-Options`,
 * `X-Content-Type-Options`, `Referrer-Policy`, `X-XSS-Protection`, over HTTPS
 * `Strict-Transport-Security`, and what the options add.
 *
 * HTTPS is detected by the server, `X-Forwarded-Proto` or `Forwarded`; see {@link
 * HttpsCheckOptions.trustedProxies}.
 *
 * @example
 * ```ts
 * secure({ ...secAllHeaders(), frameOptions: "SAMEORIGIN", hsts: { maxAge: 86_400, preload: true } });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function secure(options: SecureOptions = {}): Middleware {
  checkOptions("secure", options, [
    "frameOptions",
    "contentTypeNosniff",
    "referrerPolicy",
    "contentSecurityPolicy",
    "permissionsPolicy",
    "hsts",
    "xssProtection",
    "crossOriginOpenerPolicy",
    "crossOriginResourcePolicy",
    "crossOriginEmbedderPolicy",
    "trustedProxies",
  ]);
  const { hsts = {} } = options;
  const policy = readPolicy(options.contentSecurityPolicy);
  const pairs = fixedHeaders(options);
  const hstsValue = hsts === false ? "" : writeHsts(hsts);
  const isHttps = httpsCheck({ trustedProxies: options.trustedProxies });
  return place("secure", (next) => (request, context) => {
    if (policy?.needsNonce === true) context.set(cspNonceKey, randomNonce());
    const result = next(request, context);
    const change = (headers: Headers): void => {
      for (const [name, value] of pairs) setDefault(headers, name, value);
      if (policy !== undefined && !headers.has("content-security-policy")) {
        const value = policy.write(request, context);
        if (value !== "") headers.set("content-security-policy", value);
      }
      if (hstsValue !== "" && isHttps(request, context)) {
        setDefault(headers, "strict-transport-security", hstsValue);
      }
    };
    return changeResult(result, context, change);
  });
}

/**
 * Options of {@link secure} that add two policies. The `Content-Security-Policy` loads from one's
 * own origin only. The `Permissions-Policy` allows no place, microphone and camera. To be spread;
 * what comes after them wins.
 */
export function secAllHeaders(): SecureOptions {
  return {
    contentSecurityPolicy:
      "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
      "font-src 'self'; form-action 'self'; frame-ancestors 'none'",
    permissionsPolicy: "geolocation=(), microphone=(), camera=()",
  };
}

/** CSP 3, 2.3.1 asks for at least 128 random bits. */
function randomNonce(): string {
  return encodeBase64(crypto.getRandomValues(new Uint8Array(16)));
}

interface PolicyWriter {
  readonly needsNonce: boolean;
  readonly write: PolicyFunction;
}

/** A policy that differs from request to request; a text is one of the fixed headers. */
function readPolicy(policy: SecureOptions["contentSecurityPolicy"]): PolicyWriter | undefined {
  if (typeof policy === "function") return { needsNonce: false, write: policy };
  if (policy === undefined || typeof policy === "string") return undefined;
  if (typeof policy !== "object" || policy === null) {
    throw optionError("contentSecurityPolicy", policy, "text, a function or directives");
  }
  checkOptions("contentSecurityPolicy of secure", policy, ["directives"]);
  const { needsNonce, write } = policyWriter(policy.directives);
  return { needsNonce, write: (_request, context) => write(context) };
}

function fixedHeaders(options: SecureOptions): readonly (readonly [string, string])[] {
  const {
    frameOptions = "DENY",
    contentTypeNosniff = true,
    referrerPolicy = "strict-origin-when-cross-origin",
    contentSecurityPolicy = "",
    permissionsPolicy = "",
    xssProtection = "1; mode=block",
    crossOriginOpenerPolicy = "",
    crossOriginResourcePolicy = "",
    crossOriginEmbedderPolicy = "",
  } = options;
  if (!["", "DENY", "SAMEORIGIN"].includes(frameOptions))
    throw optionError("frameOptions", frameOptions, '"DENY", "SAMEORIGIN" or ""');
  checkFlag(contentTypeNosniff, "contentTypeNosniff");
  const texts = {
    referrerPolicy,
    permissionsPolicy,
    xssProtection,
    crossOriginOpenerPolicy,
    crossOriginResourcePolicy,
    crossOriginEmbedderPolicy,
    contentSecurityPolicy: typeof contentSecurityPolicy === "string" ? contentSecurityPolicy : "",
  };
  for (const [name, value] of Object.entries(texts)) checkHeaderValue(value, name);
  const pairs = [
    ["x-frame-options", frameOptions],
    ["x-content-type-options", contentTypeNosniff ? "nosniff" : ""],
    ["referrer-policy", referrerPolicy],
    ["x-xss-protection", xssProtection],
    ["content-security-policy", texts.contentSecurityPolicy],
    ["permissions-policy", permissionsPolicy],
    ["cross-origin-opener-policy", crossOriginOpenerPolicy],
    ["cross-origin-resource-policy", crossOriginResourcePolicy],
    ["cross-origin-embedder-policy", crossOriginEmbedderPolicy],
  ] as const;
  return pairs.filter(([, value]) => value !== "");
}

function writeHsts(options: HstsOptions): string {
  if (typeof options !== "object" || options === null)
    throw optionError("hsts", options, "an object, or false");
  checkOptions("hsts of secure", options, ["maxAge", "includeSubdomains", "preload"]);
  const { maxAge = 31_536_000, includeSubdomains = true, preload = false } = options;
  checkFlag(includeSubdomains, "hsts.includeSubdomains");
  checkFlag(preload, "hsts.preload");
  checkAmount(maxAge, "hsts.maxAge", 0);
  if (maxAge === Infinity) throw optionError("hsts.maxAge", maxAge, "a number of seconds");
  if (maxAge === 0) return "";
  return `max-age=${maxAge}${includeSubdomains ? "; includeSubDomains" : ""}${preload ? "; preload" : ""}`;
}
