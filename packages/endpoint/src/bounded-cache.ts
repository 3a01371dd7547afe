import { fail } from "./errors.ts";

const maximumEntries = 500;
const maximumLength = 2048;

/**
 * Remembers what `compute` returned for up to 500 texts, then starts again; longer ones than 2048
 * characters are computed each time.
 */
export function boundedCache<T extends object>(compute: (text: string) => T): (text: unknown) => T {
  const entries = new Map<unknown, T>();
  return (text) => {
    let value = entries.get(text);
    if (value === undefined) {
      if (typeof text !== "string") {
        fail("ERR_ENDPOINT_TEMPLATE", "a route, url or template must be a string");
      }
      value = compute(text);
      if (entries.size >= maximumEntries) entries.clear();
      if (text.length <= maximumLength) entries.set(text, value);
    }
    return value;
  };
}
