import { isHttpUrl } from "../message/secure-url.ts";
import { optionError } from "../errors.ts";

/** Maximum length of a URL to return to, in characters: it is kept in a cookie. */
const maxLength = 1000;

/**
 * Reads where a browser goes after its sign-in: a path that begins with one slash, or an absolute
 * URL of one of the origins. Returns the absolute URL; `undefined` for anything else, because it
 * may lead to a page of an attacker.
 *
 * @param own - Origin that paths belong to.
 */
export function readReturnTo(
  text: string,
  own: string,
  origins: ReadonlySet<string>,
): string | undefined {
  // URL parsers drop tabs and newlines and read a backslash as a slash: `/\evil.example` is another
  // host.
  if (/[\p{Cc}\s\\]/u.test(text) || !/^(?:\/(?!\/)|https?:\/\/)/i.test(text)) return undefined;
  const url = URL.canParse(text, own) ? new URL(text, own) : undefined;
  if (url === undefined || !isHttpUrl(url) || !origins.has(url.origin)) return undefined;
  return url.href.length > maxLength ? undefined : url.href;
}

/**
 * Checks a list of origins.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkOrigins(origins: readonly string[]): ReadonlySet<string> {
  for (const origin of origins) {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin) throw optionError("origins", origin, "origins such as https://app.example.com");
  }
  return new Set(origins);
}
