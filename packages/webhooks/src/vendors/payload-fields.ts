import type { UnknownPayload } from "../event-map.ts";

/** Returns the first field of a payload that is a string; `""` when there is none. */
export function textOf(payload: UnknownPayload, ...fields: readonly string[]): string {
  for (const field of fields) {
    const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
    if (typeof value === "string") return value;
  }
  return "";
}

/** Returns a field of a payload that is an object; an empty object when there is none. */
export function objectOf(payload: UnknownPayload, field: string): UnknownPayload {
  const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
  return typeof value === "object" && value !== null ? (value as UnknownPayload) : {};
}

/** `actionOf` of vendors whose events have no actions. */
export function noAction(): undefined {
  return undefined;
}
