import { checkOptions, type KnownOptions } from "@fetchwork/kit";
import { WebhookUsageError } from "./errors.ts";

/**
 * Refuses options that do not exist, and `null` as the value of one.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkOptionNames(options: unknown, known: KnownOptions): void {
  checkOptions(options, known, optionFault);
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === null) {
      throw optionFault(`${known.owner}: ${name} is null; leave it out to use its default`);
    }
  }
}

function optionFault(message: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_OPTION", message);
}
