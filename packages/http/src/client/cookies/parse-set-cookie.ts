/** The parts of a `Set-Cookie` line (RFC 6265bis, 5.6). @internal */
export interface SetCookie {
  readonly name: string;
  readonly value: string;
  /** Without a dot at the front, in lower case; undefined when there is none. */
  readonly domain: string | undefined;
  /** Undefined when it is missing or invalid. */
  readonly path: string | undefined;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  /** Milliseconds since the epoch; undefined for the rest of the session. `Max-Age` wins over `Expires`. */
  readonly expires: number | undefined;
}

// RFC 6265bis, 5.6: longer ones are ignored, and no cookie lives longer than 400 days.
const longestPair = 4096;
const longestAttribute = 1024;
const longestLife = 400 * 86_400_000;

/** Parses a `Set-Cookie` line; undefined for one that sets nothing. @internal */
export function parseSetCookie(line: string, now: number = Date.now()): SetCookie | undefined {
  // A tab may stand in a value; every other control character spoils the line.
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(line)) return undefined;
  const [pair = "", ...attributes] = line.split(";");
  const equals = pair.indexOf("=");
  const name = equals === -1 ? "" : trim(pair.slice(0, equals));
  const value = trim(equals === -1 ? pair : pair.slice(equals + 1));
  if ((name === "" && value === "") || name.length + value.length > longestPair) return undefined;
  const given = readAttributes(attributes);
  const domain = given.get("domain")?.toLowerCase().replace(/^\./, "");
  const path = given.get("path");
  return {
    name,
    value,
    domain: domain === "" ? undefined : domain,
    path: path?.startsWith("/") === true ? path : undefined,
    secure: given.has("secure"),
    httpOnly: given.has("httponly"),
    expires: expiryOf(given, now),
  };
}

/**
 * Reads a date as cookies have them, in any order and with any separators (RFC 6265bis, 5.1.1).
 *
 * @returns Milliseconds since the epoch; undefined when it is invalid.
 * @internal
 */
export function parseCookieDate(text: string): number | undefined {
  const found: { time?: number[]; day?: number; month?: number; year?: number } = {};
  for (const token of text.split(/[\t\x20-\x2f;-@[-`{-~]+/)) {
    const time = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/.exec(token);
    if (found.time === undefined && time !== null) found.time = time.slice(1, 4).map(Number);
    else if (found.day === undefined && /^\d{1,2}(?:\D|$)/.test(token)) {
      found.day = Number.parseInt(token, 10);
    } else if (found.month === undefined && months.includes(token.slice(0, 3).toLowerCase())) {
      found.month = months.indexOf(token.slice(0, 3).toLowerCase());
    } else if (found.year === undefined && /^\d{2,4}(?:\D|$)/.test(token)) {
      found.year = Number.parseInt(token, 10);
    }
  }
  const { time, day, month, year } = found;
  if (time === undefined || day === undefined || month === undefined || year === undefined) {
    return undefined;
  }
  const [hour = 0, minute = 0, second = 0] = time;
  const full = year >= 100 ? year : year + (year >= 70 ? 1900 : 2000);
  if (hour > 23 || minute > 59 || second > 59 || full < 1601) return undefined;
  const date = new Date(Date.UTC(full, month, day, hour, minute, second));
  // The 31st of a month with 30 days is invalid.
  return date.getUTCDate() === day ? date.getTime() : undefined;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Names in lower case to values; the last of a name counts. */
function readAttributes(attributes: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const attribute of attributes) {
    const equals = attribute.indexOf("=");
    const name = trim(equals === -1 ? attribute : attribute.slice(0, equals)).toLowerCase();
    const value = equals === -1 ? "" : trim(attribute.slice(equals + 1));
    if (value.length <= longestAttribute) given.set(name, value);
  }
  return given;
}

function expiryOf(given: ReadonlyMap<string, string>, now: number): number | undefined {
  const maxAge = given.get("max-age");
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) {
    const seconds = Number(maxAge);
    return seconds <= 0 ? 0 : Math.min(now + seconds * 1000, now + longestLife);
  }
  const expires = given.get("expires");
  const date = expires === undefined ? undefined : parseCookieDate(expires);
  return date === undefined ? undefined : Math.min(date, now + longestLife);
}

function trim(text: string): string {
  return text.replace(/^[\t ]+|[\t ]+$/g, "");
}
