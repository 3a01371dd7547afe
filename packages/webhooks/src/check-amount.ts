import { optionError } from "./errors.ts";

/**
 * Checks a whole number of at least `least`, or `Infinity`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkAmount(what: string, value: unknown, least: number): void {
  const isWhole = Number.isSafeInteger(value) || value === Infinity;
  if (typeof value === "number" && isWhole && value >= least) return;
  throw optionError(what, value, `a whole number of at least ${least}`);
}

/**
 * Checks milliseconds that a timer can wait, or `Infinity`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkDuration(what: string, value: unknown): void {
  if (typeof value === "number" && value > 0 && (value <= 2_147_483_647 || value === Infinity)) {
    return;
  }
  throw optionError(what, value, "milliseconds from 1 to 2147483647, or Infinity");
}
