/** A JSON object as it came from outside: nothing is known about its members. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a value is an object that is neither `null` nor an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a JSON object; `undefined` for everything else. */
export function parseJsonRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
