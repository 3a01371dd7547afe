import { optionError } from "../errors.ts";

/** Options of schemes that sign a time. */
export interface TimestampOptions {
  /** Maximum seconds between a timestamp and now, in both directions. Default: `300`. */
  readonly tolerance?: number | undefined;
}

/** Names of {@link TimestampOptions}. */
export const timestampOptionNames: readonly (keyof TimestampOptions)[] = ["tolerance"];

/** Makes a check of timestamps, which are strings of whole seconds since 1970. */
export function createTimestampCheck(options: TimestampOptions): (timestamp: string) => boolean {
  const { tolerance = 300 } = options;
  if (typeof tolerance !== "number" || !(tolerance >= 0)) {
    throw optionError("tolerance", tolerance, "seconds, 0 or more");
  }
  return (timestamp) =>
    /^[1-9]\d{0,11}$/.test(timestamp) &&
    Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance;
}
