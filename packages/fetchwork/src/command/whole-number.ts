import { CommandUsageError } from "./usage-error.ts";

/**
 * Reads a whole number from an option.
 *
 * @throws CommandUsageError when the value is not a whole number from `min` to `max`
 */
export function wholeNumber(name: string, value: string, max: number, min = 0): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new CommandUsageError(`--${name} must be a whole number from ${min} to ${max}`);
}
