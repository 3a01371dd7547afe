import { guardLogger, type Logger } from "@fetchwork/kit";
import { optionError } from "./errors.ts";

/** Does nothing. Callers compare with it to skip making a message that goes nowhere. */
export function silent(): void {}

const defaults: Logger = {
  debug: silent,
  info: silent,
  warn: (...all) => console.warn(...all),
  error: (...all) => console.error(...all),
};

/**
 * Completes a logger without changing it: `debug` and `info` default to nothing, `warn` and `error`
 * to the console. Errors and rejections of the logger are dropped.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function completeLogger(log: Partial<Logger> = {}): Logger {
  if ((typeof log !== "object" && typeof log !== "function") || log === null) {
    throw optionError("log", log, "an object with debug, info, warn and error");
  }
  return guardLogger(log, defaults);
}

/** Makes a text from outside safe for one line of a log: at most 200 printable ASCII characters. */
export function oneLine(text: string): string {
  return text.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, "?");
}
