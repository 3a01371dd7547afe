import { HttpUsageError } from "@fetchwork/http";
import { WebhookUsageError } from "@fetchwork/webhooks";
import { CommandUsageError } from "../command/usage-error.ts";

/** Runs a command line; what the packages refuse of it is a mistake in the command line. */
export async function withUsageFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isUsage = error instanceof WebhookUsageError || error instanceof HttpUsageError;
    throw isUsage ? new CommandUsageError(error.message, { cause: error }) : error;
  }
}

/**
 * Checks a text that becomes the value of a header.
 *
 * @throws CommandUsageError
 */
export function checkHeaderText(option: string, value: string): void {
  if (/^[!-~](?:[ -~]{0,254}[!-~])?$/.test(value)) return;
  throw new CommandUsageError(`--${option} must be 1 to 256 ASCII characters on one line`);
}
