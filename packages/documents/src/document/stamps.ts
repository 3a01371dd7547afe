import { createIdGenerator, timeOfId } from "./uuid.ts";

/** The times and ids of changes, neither of which ever goes back. */
export interface Stamps {
  /** Returns the time of a change, ISO 8601: now, or the last one if the clock went back. */
  now(): string;
  /**
   * Returns the time at which documents begin whose ids the caller chose, `now` or a little later:
   * it is never the same for one that was added and removed before.
   */
  beginning(collection: string, ids: readonly string[]): string;
  /** Makes an id of the time that was last asked for, greater than the last id. */
  id(): string;
}

/** Creates the source of times and ids of one store. */
export function createStamps(): Stamps {
  const createId = createIdGenerator();
  let time = -Infinity;
  let text = "";
  /** Times of the documents that began in this millisecond, or in one that is still to come. */
  const begun = new Map<string, number>();

  function now(): string {
    const current = Date.now();
    if (current > time) {
      time = current;
      text = new Date(current).toISOString();
      for (const [key, last] of begun) if (last < current) begun.delete(key);
    }
    return text;
  }

  return {
    now,
    beginning(collection, ids) {
      now();
      const keyOf = (id: string): string => `${collection}/${id}`;
      const start = ids.reduce((last, id) => {
        // One that was made here in this millisecond may be that of a document which was removed
        // since.
        const made = timeOfId(id) === time ? time : -1;
        return Math.max(last, (begun.get(keyOf(id)) ?? made) + 1);
      }, time);
      for (const id of ids) begun.set(keyOf(id), start);
      return start === time ? text : new Date(start).toISOString();
    },
    // Not at the time of the call: an id and the creation of its document are of the same
    // millisecond.
    id: () => createId(time),
  };
}
