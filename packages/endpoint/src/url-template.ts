import { boundedCache } from "./bounded-cache.ts";
import { fail } from "./errors.ts";
import type { PlainObject } from "./own-property.ts";
import { expandTemplate, parseTemplate, type Template } from "./parse-template.ts";

/** Names of options, which are not parameters; `data` is another one. */
export const optionNames: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "method",
  "url",
  "baseUrl",
  "headers",
  "mediaType",
  "request",
]);

/** An url with placeholders, read once: what an expansion needs to know about it. */
export interface UrlTemplate extends Template {
  /** Names of all variables. */
  readonly names: readonly string[];
  /** Whether it begins with a scheme and `//`; every other url is put after the `baseUrl`. */
  readonly isAbsolute: boolean;
  /** Texts of the host around its variables; one text for a host without variables. */
  readonly host: readonly string[];
}

const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;
/** A segment `.` or `..` in any spelling (WHATWG URL, single- and double-dot segments). */
export const dotSegment: RegExp = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/** Reads the url of a route, once while it is remembered. */
export const readUrl: (url: unknown) => UrlTemplate = /* @__PURE__ */ boundedCache(
  (url: string) => {
    const [start = "", host = ""] = authority.exec(url) ?? [];
    const template = parseTemplate(url, start.length);
    const names = template.parts.flatMap(([{ variables }]) => variables.map(({ name }) => name));
    const wrong = names.find((name) => optionNames.has(name));
    if (wrong) fail("ERR_ENDPOINT_TEMPLATE", `the variable "${wrong}" is an option`);
    // In `{/a}` the host is over: what follows the last brace is the end of it.
    return { ...template, names, isAbsolute: start !== "", host: host.split(/\{.*\}|\{/) };
  },
);

/**
 * Expands the url of a route. No value changes the host or climbs out of the path: what would is an
 * error.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_HOST`, `ERR_ENDPOINT_PATH`, `ERR_ENDPOINT_VALUE`,
 * `ERR_ENDPOINT_MISSING`.
 */
export function expandUrl(
  template: UrlTemplate,
  values: PlainObject,
  { baseUrl, isStrict }: { readonly baseUrl: string; readonly isStrict: boolean },
): string {
  const { isAbsolute, host, parts } = template;
  // A space cannot be in a result: it marks what is missing, so that `/a/{b}/c` becomes `/a/c`.
  let url = expandTemplate(template, values, { isStrict, hole: " " });
  if (url.includes(" ")) url = url.replace(/(?<!\/)\/ +(?=[/?#]|$)| /g, "");
  if (!isAbsolute) url = baseUrl + (/^[/?#]/.test(url) ? url : `/${url}`);
  if (parts.length > 0) {
    // Without a base, two slashes are followed by a host (RFC 3986 section 4.2).
    const isHost = isAbsolute
      ? host.length < 2 || fits(url, host)
      : baseUrl || !url.startsWith("//");
    if (!isHost) fail("ERR_ENDPOINT_HOST", "a value would change the host");
    // The first pattern is cheap, and rarely there.
    if (/\/[.%]/.test(url) && dotSegment.test(url)) {
      fail("ERR_ENDPOINT_PATH", "a value would change the path");
    }
  }
  return url;
}

/** Allows part of a name, or a whole one at the start or after a dot (RFC 3986, 3.2). */
function fits(url: string, [start = "", ...others]: readonly string[]): boolean {
  const [, host = ""] = authority.exec(url) ?? [];
  const end = others.at(-1) ?? "";
  // `https://api.example.com{+path}`: a dot there would make it a subdomain of someone else.
  const value = /[\w-]$/.test(start) ? /^[\w-]*$/ : /^[\w.:[\]-]+$/;
  return host.endsWith(end) && value.test(host.slice(start.length, host.length - end.length));
}
