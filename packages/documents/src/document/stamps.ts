import { createIdGenerator } from "./uuid.ts";

/** The times and ids of changes, neither of which ever goes back. */
export interface Stamps {
  /** Returns the time of a change, ISO 8601: now, or the last time that was returned when the clock went back. */
  now(): string;
  /** Makes an id, greater than the last one. */
  id(): string;
}

/** Creates the source of times and ids of one store. */
export function createStamps(): Stamps {
  const createId = createIdGenerator();
  let time = -Infinity;
  let text = "";
  return {
    now() {
      const now = Date.now();
      if (now > time) {
        time = now;
        text = new Date(now).toISOString();
      }
      return text;
    },
    id: () => createId(Date.now()),
  };
}
