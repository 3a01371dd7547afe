import { optionError } from "./errors.ts";
import { guarded } from "./maybe-promise.ts";

/** Receives log messages. `console` is one. */
export interface Logger {
  debug(message: unknown, ...details: unknown[]): void;
  info(message: unknown, ...details: unknown[]): void;
  warn(message: unknown, ...details: unknown[]): void;
  error(message: unknown, ...details: unknown[]): void;
}

/** Does nothing. Callers compare with it to skip making a message that goes nowhere. */
export function silent(): void {}

/**
 * Completes a logger without changing it: `debug` and `info` default to nothing, `warn` and `error` to the console. A
 * logger that fails must neither fail a delivery nor end the process, so what it throws or rejects with is dropped.
 */
export function completeLogger(log: Partial<Logger> = {}): Logger {
  if (typeof log !== "object" && typeof log !== "function") {
    throw optionError("log", log, "an object with debug, info, warn and error");
  }
  const guard = (write: Logger["error"] | undefined): Logger["error"] | undefined =>
    write && guarded(write.bind(log), silent);
  return {
    debug: guard(log.debug) ?? silent,
    info: guard(log.info) ?? silent,
    warn: guard(log.warn) ?? ((...all) => console.warn(...all)),
    error: guard(log.error) ?? ((...all) => console.error(...all)),
  };
}

/** Makes a text from outside safe for one line of a log: at most 200 printable ASCII characters. */
export function oneLine(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, "?");
}
