/** Largest time in seconds; what a server sends beyond it counts as this. */
const farthest = Number.MAX_SAFE_INTEGER;

/**
 * Reads a lifetime in seconds. Text counts by the number that it starts with; what is no number is `undefined`, as if
 * the server had not sent it.
 */
export function readSeconds(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? clamp(value) : undefined;
  if (typeof value !== "string") return undefined;
  const digits = /^\s{0,20}([-+]?\d{1,30})/.exec(value)?.[1];
  return digits === undefined ? undefined : clamp(Number(digits));
}

/** Reads a point in time as seconds since the epoch: a number, digits, or a date of ISO 8601 (without a zone: UTC). */
export function readTime(value: unknown): number | undefined {
  if (typeof value !== "string") return readSeconds(value);
  if (/^\s*\d{1,30}\s*$/.test(value)) return readSeconds(value);
  const parts =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[-+]\d\d:?\d\d|UTC|GMT)?)?$/i.exec(
      value.trim(),
    );
  if (parts === null) return undefined;
  const [, day, time = "00:00:00", zone = "Z"] = parts;
  const offset = /^[-+]/.test(zone) ? zone : "Z";
  const milliseconds = Date.parse(`${day}T${time}${offset}`);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}

/** Gives when a token expires, in seconds since the epoch; a lifetime of 0 means never. */
export function expiryOf(
  expiresAt: number | undefined,
  expiresIn: number | undefined,
  now: number,
): number | undefined {
  if (expiresAt !== undefined) return expiresAt;
  if (expiresIn === undefined || expiresIn === 0) return undefined;
  return clamp(now + expiresIn);
}

function clamp(seconds: number): number {
  return Math.trunc(Math.min(Math.max(seconds, -farthest), farthest));
}
