import { CommandUsageError } from "./usage-error.ts";

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/**
 * Reads a duration: `90s`, `10m`, `1.5h`, or seconds without a unit.
 *
 * @throws CommandUsageError for anything else, and for more than 24 days
 */
export function milliseconds(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, number, unit = "s"] = /^(\d{1,6}(?:\.\d{1,3})?)([smh])?$/.exec(value) ?? [];
  const time = Math.round(Number(number) * (units.get(unit) ?? Number.NaN));
  // The longest time that a timer takes.
  if (time >= 1 && time < 2 ** 31) return time;
  throw new CommandUsageError(
    `--${name} must be a duration such as 90s, 10m or 1h, at most 24 days`,
  );
}
