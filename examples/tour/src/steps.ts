import { stripVTControlCharacters } from "node:util";

/** Where the lines go. */
export interface StepOutput {
  readonly log: (line: string) => void;
  readonly fail: (line: string) => void;
}

/** Goes one step after another, and says how long each took. */
export interface Steps {
  /** Prints a line when the step is done, and returns its result. What it throws goes on. */
  readonly step: <T>(title: string, run: () => T | Promise<T>) => Promise<T>;
  /** Remembers what is to be ended; the last one is ended first. */
  readonly atEnd: (close: () => unknown) => void;
}

/**
 * Goes through a tour, ends what it has started, and resolves to the exit code: 1 at the first
 * surprise, which is one line.
 */
export async function goThrough(
  tour: (steps: Steps) => Promise<void>,
  { log, fail }: StepOutput,
): Promise<0 | 1> {
  const closers: (() => unknown)[] = [];
  let current = "the tour";
  const steps: Steps = {
    async step(title, run) {
      current = title;
      const start = performance.now();
      const result = await run();
      log(`${(performance.now() - start).toFixed(0).padStart(6)} ms  ${title}`);
      return result;
    },
    atEnd(close) {
      closers.push(close);
    },
  };
  let code: 0 | 1 = 0;
  const surprised = (error: unknown): void => {
    code = 1;
    fail(`surprise at "${current}": ${oneLine(error)}`);
  };
  try {
    await tour(steps);
  } catch (error) {
    surprised(error);
  }
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      surprised(error);
    }
  }
  return code;
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return stripVTControlCharacters(message).replace(/\s+/g, " ").trim().slice(0, 500);
}
