import { InvalidResponseError } from "../errors.ts";

/** Largest time in seconds; what a server sends beyond it counts as this. */
const farthest = Number.MAX_SAFE_INTEGER;
/** Times above this are milliseconds; as seconds, it is the year 5138. */
const milliseconds = 1e11;
/** Expiry of a token whose own is unreadable: long ago, so that it does not live forever. */
export const unknownExpiry = 0;

/** When a token expires. */
export interface Expiry {
  /** Lifetime in seconds; `undefined` when there is none, or it is unreadable. */
  readonly expiresIn: number | undefined;
  /** In seconds since the epoch; `undefined` when unknown. */
  readonly expiresAt: number | undefined;
  /** Whether the expiry is unreadable: then the token counts as expired. */
  readonly isUnknown: boolean;
}

/**
 * Reads when a token expires, of its fields `expires_at`, which counts, and `expires_in`. A
 * lifetime of 0 means never. An unreadable field counts as expired; an empty text counts as absent.
 *
 * @param now in seconds since the epoch
 * @throws InvalidResponseError when the lifetime is neither a number nor text
 */
export function readExpiry(at: unknown, lifetime: unknown, now: number): Expiry {
  const expiresIn = readSeconds(lifetime);
  if (isGiven(lifetime) && typeof lifetime !== "number" && typeof lifetime !== "string") {
    throw new InvalidResponseError('the field "expires_in" is not a number of seconds');
  }
  if (isGiven(at)) {
    const time = readTime(at);
    return { expiresIn, expiresAt: time ?? unknownExpiry, isUnknown: time === undefined };
  }
  const isUnknown = isGiven(lifetime) && expiresIn === undefined;
  const isEndless = expiresIn === undefined || expiresIn === 0;
  return { expiresIn, expiresAt: isEndless ? undefined : clamp(now + expiresIn), isUnknown };
}

/** Reads seconds: a number, or the number a text starts with; else `undefined`. */
export function readSeconds(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? clamp(value) : undefined;
  if (typeof value !== "string") return undefined;
  const digits = /^\s{0,20}([-+]?\d{1,30})/.exec(value)?.[1];
  return digits === undefined ? undefined : clamp(Number(digits));
}

/** Reads a point in time: number, digits, `Date`, ISO 8601 (without zone: UTC). */
function readTime(value: unknown): number | undefined {
  if (value instanceof Date) return secondsOf(value.getTime());
  if (typeof value !== "string" || /^\s*\d{1,30}(?:\.\d{1,9})?\s*$/.test(value)) {
    const time = readSeconds(value);
    return time !== undefined && time > milliseconds ? secondsOf(time) : time;
  }
  const parts =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[-+]\d\d:?\d\d|UTC|GMT)?)?$/i.exec(
      value.trim(),
    );
  if (parts === null) return undefined;
  const [, day, time = "00:00:00", zone = "Z"] = parts;
  const offset = /^[-+]/.test(zone) ? zone : "Z";
  return secondsOf(Date.parse(`${day}T${time}${offset}`));
}

function secondsOf(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function clamp(seconds: number): number {
  return Math.trunc(Math.min(Math.max(seconds, -farthest), farthest));
}
