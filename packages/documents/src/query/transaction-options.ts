import { backoffDelay } from "@fetchwork/kit";
import { optionError } from "../api/errors.ts";
import type { TransactionOptions } from "../api/transaction.ts";
import { checkOptions } from "../api/check-options.ts";

const defaultTimeout = 10_000;
const maxTimeout = 0x7fff_ffff;
const firstPause = 2;
const longestPause = 100;

/**
 * Checks the options of a transaction.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parseTransactionOptions(options: TransactionOptions): {
  readonly timeout: number;
  readonly retries: number | undefined;
} {
  checkOptions("transaction", options, ["timeout", "retries"]);
  const { timeout = defaultTimeout, retries } = options;
  if (!(timeout > 0 && timeout <= maxTimeout)) {
    throw optionError(`"timeout" must be a number of milliseconds from 1 to ${maxTimeout}`);
  }
  if (retries !== undefined && !(Number.isSafeInteger(retries) && retries >= 0)) {
    throw optionError('"retries" must be a whole number from 0');
  }
  return { timeout, retries };
}

/**
 * Returns the time to wait after an attempt that conflicted with others, in milliseconds. It is
 * random, so that they do not conflict again.
 */
export function pauseAfter(attempt: number): number {
  return backoffDelay(attempt + 1, { baseDelay: firstPause, maxDelay: longestPause });
}
