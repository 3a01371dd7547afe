import { isObject as isJsonRecord } from "@fetchwork/kit";

export { isJsonRecord };

/** A JSON object as it came from outside: nothing is known about its members. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Reads a JSON object; `undefined` for everything else. */
export function parseJsonRecord(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
