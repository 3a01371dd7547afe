import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import { optionError, WebhookUsageError } from "./errors.ts";

/**
 * Refuses options that do not exist.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export const checkOptions: OptionCheck = /* @__PURE__ */ createOptionCheck(
  (message) => new WebhookUsageError("ERR_WEBHOOKS_OPTION", message),
);

/** Checks the type of an option that may be missing; throws as {@link checkOptions} does. */
export function checkType(name: string, value: unknown, type: "boolean" | "function"): void {
  if (value !== undefined && typeof value !== type) throw optionError(name, value, `a ${type}`);
}

/**
 * Checks an integer of at least `minimum`, or `Infinity`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkInteger(name: string, value: unknown, minimum: number): void {
  const isInteger = Number.isSafeInteger(value) || value === Infinity;
  if (typeof value === "number" && isInteger && value >= minimum) return;
  throw optionError(name, value, `an integer of at least ${minimum}`);
}

/**
 * Checks milliseconds that a timer can wait, or `Infinity`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function checkDuration(name: string, value: unknown): void {
  if (typeof value === "number" && value > 0 && (value <= 2_147_483_647 || value === Infinity)) {
    return;
  }
  throw optionError(name, value, "milliseconds from 1 to 2147483647, or Infinity");
}
