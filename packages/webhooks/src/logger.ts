import { optionError } from "./errors.ts";
import { isThenable } from "./thenable.ts";

/** Receives what happens. `console` is one. */
export interface Logger {
  debug(message: unknown, ...details: unknown[]): void;
  info(message: unknown, ...details: unknown[]): void;
  warn(message: unknown, ...details: unknown[]): void;
  error(message: unknown, ...details: unknown[]): void;
}

/** Does nothing. Lets callers see that a message would go nowhere. */
export function silent(): void {}

type Write = Logger["error"];

/**
 * Completes a logger without changing it: `debug` and `info` do nothing, `warn` and `error` go to the console. A log that
 * fails must neither fail a delivery nor end the process, so what it throws or rejects with is dropped.
 */
export function completeLogger(log: Partial<Logger> = {}): Logger {
  if (typeof log !== "object" && typeof log !== "function") {
    throw optionError("log", log, "an object with debug, info, warn and error");
  }
  return {
    debug: guarded(log.debug?.bind(log)) ?? silent,
    info: guarded(log.info?.bind(log)) ?? silent,
    warn: guarded(log.warn?.bind(log)) ?? ((...all) => console.warn(...all)),
    error: guarded(log.error?.bind(log)) ?? ((...all) => console.error(...all)),
  };
}

function guarded(write: Write | undefined): Write | undefined {
  if (write === undefined) return undefined;
  return (...all) => {
    try {
      const written: unknown = write(...all);
      if (isThenable(written)) written.then(undefined, silent);
    } catch {
      // See above.
    }
  };
}
