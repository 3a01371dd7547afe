import { optionError } from "../errors.ts";

/** Options of schemes that sign a time. */
export interface TimestampOptions {
  /** Maximum difference between a timestamp and now in seconds, in both directions. Default: `300`. */
  readonly tolerance?: number | undefined;
  /** Returns the time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Names of {@link TimestampOptions}. */
export const timestampOptionNames: readonly (keyof TimestampOptions)[] = ["tolerance", "now"];

/** Makes a check of timestamps, which are strings of whole seconds since 1970. */
export function createTimestampCheck(options: TimestampOptions): (timestamp: string) => boolean {
  const { tolerance = 300, now = Date.now } = options;
  if (typeof tolerance !== "number" || !(tolerance >= 0)) {
    throw optionError("tolerance", tolerance, "seconds, 0 or more");
  }
  if (typeof now !== "function") throw optionError("now", now, "a function");
  return (timestamp) =>
    /^[1-9]\d{0,11}$/.test(timestamp) && Math.abs(now() / 1000 - Number(timestamp)) <= tolerance;
}
