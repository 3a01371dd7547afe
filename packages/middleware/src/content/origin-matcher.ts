import { optionError } from "../check-options.ts";

/** Whether an origin, as a browser sent it, is in a list. */
export type OriginMatcher = (origin: string) => boolean;

/** Longer than any origin: hosts have at most 253 characters. Bounds pattern time. */
const maxPatternInput = 300;

/**
 * Makes a matcher of a list of origins. An entry is
 *
 * - a whole origin, `https://app.example.com` or `http://localhost:5173`, compared without regard
 *   to case;
 * - all subdomains of a host, `https://*.example.com`, at any depth and without the host itself;
 * - a regular expression, which must match the whole origin in lower case:
 *   `/https:\/\/app-\d+\.example\.com/`. It is anchored at both ends, as if `^(?:…)$` stood around
 *   it, and sees no more than 300 characters;
 * - `null`, which stands for sandboxed frames and files, so for everybody who wants to be it.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an entry with a path, a wildcard elsewhere,
 * or no scheme
 */
export function originMatcher(entries: readonly (string | RegExp)[]): OriginMatcher {
  const exact = new Set<string>();
  const patterns: { readonly prefix: string; readonly suffix: string }[] = [];
  const expressions: RegExp[] = [];
  for (const entry of entries) {
    if (entry instanceof RegExp) {
      expressions.push(anchor(entry));
      continue;
    }
    const origin = normalize(entry);
    const star = origin.indexOf("*");
    if (star === -1) exact.add(origin);
    else patterns.push({ prefix: origin.slice(0, star), suffix: origin.slice(star + 1) });
  }
  return (sent) => {
    const origin = sent.toLowerCase();
    if (exact.has(origin)) return true;
    if (origin.length <= maxPatternInput && expressions.some((one) => one.test(origin)))
      return true;
    return patterns.some(
      ({ prefix, suffix }) =>
        origin.length > prefix.length + suffix.length &&
        origin.startsWith(prefix) &&
        origin.endsWith(suffix) &&
        isLabels(origin.slice(prefix.length, -suffix.length)),
    );
  };
}

/** A partial match such as `/example\.com/` would allow `https://example.com.evil.net`. */
function anchor({ source, flags }: RegExp): RegExp {
  // With "g" or "y" the place of the last match would decide; with "m" an end of a line is an end.
  return new RegExp(`^(?:${source})$`, flags.replace(/[gym]/g, ""));
}

const originPattern =
  /^[a-z][a-z\d+.-]*:\/\/(?:\*\.)?(?:\[[\da-f:.]+\]|[^\s/?#@:\\[\]*%,]+)(?::\d{1,5})?$/;

/** Spelling of origins by browsers: lower case, Punycode, no default port (RFC 6454, 6.2). */
function normalize(entry: unknown): string {
  const origin = typeof entry === "string" ? entry.toLowerCase() : "";
  if (origin === "null") return origin;
  if (!originPattern.test(origin))
    throw optionError(
      "allowed origin",
      entry,
      "`scheme://host[:port]`, `scheme://*.host[:port]` or a regular expression",
    );
  if (!/^https?:/.test(origin)) return origin;
  if (!URL.canParse(origin)) throw optionError("allowed origin", entry, "a host that can exist");
  return new URL(origin).origin;
}

/** Whether text is labels of a host name, so that no other part of a URL hides in it. */
function isLabels(text: string): boolean {
  return /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/.test(text);
}
