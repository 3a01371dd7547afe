import { fail } from "./errors.ts";
import { isObject } from "./own-property.ts";

/** Headers by name, in any case; `null` removes a default. Or `Headers`, or pairs. */
export type HeadersOption =
  | Readonly<Record<string, string | number | null | undefined>>
  | Iterable<readonly [string, string | number | null | undefined]>;

/**
 * Puts headers over defaults, with their names in lower case; the last of two equal names wins.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_HEADER` for a name that is not a token, or a value that
 * could end its line (RFC 9110 section 5.5).
 */
export function mergeHeaders(
  defaults: Readonly<Record<string, string>>,
  changes: unknown,
): Record<string, string> {
  const result: Record<string, string> = { ...defaults };
  if (!isObject(changes)) fail("ERR_ENDPOINT_OPTION", "the headers are not an object");
  for (const [name, value] of isPairs(changes) ? changes : Object.entries(changes)) {
    if (value === undefined) continue;
    const text = typeof value === "number" ? String(value) : (value ?? "");
    // A line break would begin a header of the value's own choosing.
    if (!isToken(name) || typeof text !== "string" || /[^\t\x20-\x7e\x80-\xff]/.test(text)) {
      fail("ERR_ENDPOINT_HEADER", `the header "${String(name)}" is malformed`);
    }
    const key = name.toLowerCase();
    if (value === null) delete result[key];
    else result[key] = text;
  }
  return result;
}

/** Whether a text is a token (RFC 9110 section 5.6.2). */
export function isToken(text: unknown): text is string {
  return typeof text === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

function isPairs(headers: object): headers is Iterable<readonly [unknown, unknown]> {
  return Symbol.iterator in headers;
}
