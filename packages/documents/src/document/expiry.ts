import type { Expires } from "../api/definition.ts";
import { parsePath, valueAt } from "../api/field-path.ts";

const timePattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Makes the function that tells when a stored document expires, in milliseconds since 1970; null
 * for never.
 */
export function createExpiry(expires: Expires): (stored: unknown) => number | null {
  const { segments } = parsePath(expires.field);
  const { after = 0 } = expires;
  return (stored) => {
    const time = toTime(valueAt(stored, segments));
    return Number.isFinite(time)
      ? Math.min(Math.trunc(time + after), Number.MAX_SAFE_INTEGER)
      : null;
  };
}

function toTime(value: unknown): number {
  if (typeof value === "number") return Math.max(value, Number.MIN_SAFE_INTEGER);
  return typeof value === "string" && timePattern.test(value) ? Date.parse(value) : Number.NaN;
}
