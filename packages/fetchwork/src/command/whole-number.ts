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

/**
 * Reads a whole number from 1 from an option that may be missing.
 *
 * @throws CommandUsageError as {@link wholeNumber}
 */
export function count(
  name: string,
  value: string | undefined,
  max: number,
  min = 1,
): number | undefined {
  return value === undefined ? undefined : wholeNumber(name, value, max, min);
}
