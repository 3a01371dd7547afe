import type { UnknownPayload } from "../event-map.ts";

/** The first field of a payload that is a text; `""` when there is none. */
export function textOf(payload: UnknownPayload, ...fields: readonly string[]): string {
  for (const field of fields) {
    const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
    if (typeof value === "string") return value;
  }
  return "";
}

/** A field of a payload that is an object; an empty one when there is none. */
export function objectOf(payload: UnknownPayload, field: string): UnknownPayload {
  const value = Object.hasOwn(payload, field) ? payload[field] : undefined;
  return typeof value === "object" && value !== null ? (value as UnknownPayload) : {};
}

/** For vendors whose events have no actions. */
export function noAction(): undefined {
  return undefined;
}
