import { UsageError } from "./usage-error.ts";

/** Checks a number of an option. */
export function wholeNumber(name: string, value: string, most: number, least = 0): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
}
