import { backoffDelay } from "@fetchwork/kit";
import { optionError } from "../../../errors.ts";

/** When a failed delivery is retried. */
export interface RetryScheduleOptions {
  /** Milliseconds after which a delivery is given up, counted from its event. Default: 3 days. */
  readonly giveUpAfter?: number | undefined;
  /** Milliseconds before the second attempt, then times `factor`. Default: `5_000`. */
  readonly firstDelay?: number | undefined;
  /** Default: 3. */
  readonly factor?: number | undefined;
  /** Maximum delay between two attempts in milliseconds. Default: 12 hours. */
  readonly maxDelay?: number | undefined;
  /**
   * Maximum random change of each delay, as a part of it from 0 to 1. It spreads the retries of
   * deliveries that failed together. Default: 0.2.
   */
  readonly jitter?: number | undefined;
}

/** A complete schedule. */
export interface RetrySchedule {
  readonly giveUpAfter: number;
  /** Returns the milliseconds to wait after a number of attempts, the first included. */
  delayAfter(attempts: number): number;
}

const hour = 3_600_000;
/** Milliseconds that can be added to any date. */
const longest = 3650 * 24 * hour;

/**
 * Makes a schedule.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function retrySchedule(options: RetryScheduleOptions = {}): RetrySchedule {
  const {
    giveUpAfter = 72 * hour,
    firstDelay = 5_000,
    factor = 3,
    maxDelay = 12 * hour,
    jitter = 0.2,
  } = options;
  for (const [name, value] of Object.entries({ giveUpAfter, firstDelay, maxDelay })) {
    if (!(value >= 0 && value <= longest)) {
      throw optionError(`retry.${name}`, value, "milliseconds of at most 10 years");
    }
  }
  if (!(factor >= 1 && factor <= 100)) throw optionError("retry.factor", factor, "1 to 100");
  if (!(jitter >= 0 && jitter <= 1)) throw optionError("retry.jitter", jitter, "0 to 1");
  const backoff = {
    baseDelay: firstDelay,
    maxDelay,
    factor,
    jitter: [1 - jitter, 1 + jitter],
  } as const;
  return {
    giveUpAfter,
    delayAfter: (attempts) => backoffDelay(attempts, backoff),
  };
}
