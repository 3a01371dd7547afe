import { createIdGenerator } from "./uuid.ts";

/** Gives the times and ids of changes. */
export interface Stamps {
  /** Gives the time now, ISO 8601. */
  now(): string;
  /** Makes an id. */
  id(): string;
}

/** Makes the source of times and ids of one store. */
export function createStamps(): Stamps {
  const createId = createIdGenerator();
  let time = Number.NaN;
  let text = "";
  return {
    now() {
      const now = Date.now();
      if (now !== time) {
        time = now;
        text = new Date(now).toISOString();
      }
      return text;
    },
    id: () => createId(Date.now()),
  };
}
