import type { Spread } from "../harness/statistics.ts";

/** A figure with as many digits as are worth reading: three, or all before the point. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  if (size < 0.001) return value.toPrecision(1);
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** A value, with how far its rounds lie apart. */
export function rangeText({ median, low, high }: Spread): string {
  const only = low === high ? "" : ` (${figure(low)} to ${figure(high)})`;
  return `${figure(median)}${only}`;
}

/** A ratio; those far below 1 keep two digits. */
export function ratioText(value: number): string {
  return value < 0.095 ? value.toFixed(3) : value >= 9.95 ? figure(value) : value.toFixed(2);
}

/** A ratio with its quartiles, where there were several rounds. */
export function spreadText({ median, low, high }: Spread): string {
  if (low === median && high === median) return ratioText(median);
  return `${ratioText(median)} (${ratioText(low)} to ${ratioText(high)})`;
}
