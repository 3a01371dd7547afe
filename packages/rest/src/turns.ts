import { Problem } from "./problem.ts";

/** Lets few of one key go on at once, and the others wait in their order. */
export interface Turns {
  /**
   * Resolves when it is the caller's turn, who then calls `leave`.
   *
   * @throws Problem 503 when too many are waiting for that key already.
   */
  enter(key: string): Promise<void>;
  leave(key: string): void;
}

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Makes {@link Turns}.
 *
 * @param limits - how many of a key go on at once, and how many may wait
 */
export function createTurns({
  atOnce,
  waiting,
}: {
  readonly atOnce: number;
  readonly waiting: number;
}): Turns {
  const lines = new Map<string, Line>();
  return {
    async enter(key) {
      const line = lines.get(key) ?? { running: 0, waiting: [] };
      lines.set(key, line);
      if (line.running < atOnce) {
        line.running += 1;
        return;
      }
      if (line.waiting.length >= waiting) {
        const headers = { "retry-after": "5" };
        throw new Problem(503, { detail: "too many sign-ins at once", headers });
      }
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    },
    leave(key) {
      const line = lines.get(key);
      const next = line?.waiting.shift();
      if (next) next();
      else if (line !== undefined && line.running > 1) line.running -= 1;
      else lines.delete(key);
    },
  };
}
