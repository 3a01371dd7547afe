import { checkOptions } from "../check-options.ts";
import type { RequestObject } from "./request/build-request-object.ts";
import { withoutHeaders, isCredentialHeader } from "./request/header-values.ts";
import { redactUrl } from "./transport/redact-url.ts";
import { headerValues } from "./response/response-headers.ts";
import { amount, optionError } from "../option-values.ts";
import { RedirectError } from "./transport/transport-errors.ts";
import type { TransportHead } from "./transport/transport.ts";

/** How redirects are followed. */
export interface RedirectOptions {
  /** Maximum redirects of one request; one more is a `RedirectError`. Default: 10. */
  readonly max?: number | undefined;
  /**
   * Names of further headers that stay with the origin that they were meant for. Default: none.
   * `Authorization`, `Cookie`, `Proxy-Authorization`, and every header that is named like a key, a
   * token or a secret, always do.
   */
  readonly credentials?: readonly string[] | undefined;
}

/** The same, checked. */
export interface RedirectPolicy {
  readonly max: number;
  readonly credentials: ReadonlySet<string>;
}

/** The defaults. */
export const defaultRedirects: RedirectPolicy = Object.freeze({
  max: 10,
  credentials: new Set<string>(),
});

/** Checks options; undefined when redirects are handed back. */
export function redirectPolicy(
  given: false | number | RedirectOptions,
): RedirectPolicy | undefined {
  if (given === false) return undefined;
  if (typeof given === "number") return { ...defaultRedirects, max: amount(given, "redirect") };
  if (typeof given !== "object" || given === null) {
    throw optionError("redirect", given, "false, a number or an object");
  }
  checkOptions<RedirectOptions>("redirect", given, ["max", "credentials"]);
  const { max = 10, credentials = [] } = given;
  if (!Array.isArray(credentials)) {
    throw optionError("redirect.credentials", credentials, "a list of names of headers");
  }
  const names = credentials.map((name: unknown) => String(name).toLowerCase());
  return { max: amount(max, "redirect.max"), credentials: new Set(names) };
}

/** Whether a response sends the client elsewhere (RFC 9110, 15.4). */
export function isRedirect({ status, headers }: TransportHead): boolean {
  return (
    status >= 301 &&
    status <= 308 &&
    (status <= 303 || status >= 307) &&
    headerValues(headers, "location").length > 0
  );
}

const bodyHeaders: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-type",
  "digest",
  "expect",
  "transfer-encoding",
]);

/**
 * Makes the request that a redirect asks for.
 *
 * After 301, 302 and 303 it is a GET without a body, or a HEAD; after 307 and 308 it is the same
 * request, which a stream cannot be. A QUERY stays one after 301 and 302 too (RFC 10008 section
 * 2.5). To another scheme, host or port no credentials go, and they do not come back on a later
 * hop; user information of the new URL is ignored.
 *
 * @throws RedirectError when the target is not an http(s) URL, or the body cannot be sent again
 */
export function redirected(
  request: RequestObject,
  response: TransportHead,
  policy: RedirectPolicy,
): RequestObject {
  const fail = (problem: string): never => {
    throw new RedirectError(problem, { method: request.method, url: redactUrl(request.url) });
  };
  const [location = ""] = headerValues(response.headers, "location");
  // Bytes of a header above U+007F are UTF-8 where they are anything.
  const target = /[\x80-\xff]/.test(location) ? utf8(location) : location;
  const url =
    resolveTarget(target, request.url) ?? fail("redirected to a target that is not an http(s) URL");
  const isSameOrigin = url.origin === request.url.origin;
  const becomesGet =
    response.status === 303 || (response.status < 303 && request.method !== "QUERY");
  if (!becomesGet && request.body instanceof ReadableStream) {
    fail(`status ${response.status} wants the body again, which is a stream`);
  }
  const headers = withoutHeaders(
    request.headers,
    (name) =>
      (becomesGet && bodyHeaders.has(name)) ||
      (!isSameOrigin &&
        (name === "host" || isCredentialHeader(name) || policy.credentials.has(name))),
  );
  if (!becomesGet) return { ...request, url, headers };
  return { method: request.method === "HEAD" ? "HEAD" : "GET", url, headers, body: undefined };
}

/** Resolves a URL of a response; undefined unless http(s). User and fragment are ignored. */
export function resolveTarget(text: string, base: URL): URL | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  url.username = "";
  url.password = "";
  url.hash = "";
  return url;
}

function utf8(latin1: string): string {
  const bytes = Uint8Array.from(latin1, (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
