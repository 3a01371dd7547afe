import {
  BodyBudgetError,
  type BodyBudget,
  type BodyShare,
  BodyTooLargeError,
} from "@fetchwork/kit";
import { bodyError, WebhookError } from "../errors.ts";

/** Limits of one body. */
export interface BodyLimits {
  /** Bytes. */
  readonly maxSize: number;
  /** Milliseconds until all of it must have arrived, or `Infinity`. */
  readonly timeout: number;
}

/** One body until it is verified: its limits of size and time, and its share of the budget. */
export class UnverifiedBody {
  readonly share: BodyShare;
  readonly #limits: BodyLimits;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(budget: BodyBudget, limits: BodyLimits) {
    this.share = budget.open(limits.maxSize);
    this.#limits = limits;
  }

  /** Starts the time limit. */
  start(onTimeout: (error: WebhookError) => void): void {
    const { timeout } = this.#limits;
    if (timeout === Infinity) return;
    this.#timer = setTimeout(() => onTimeout(bodyError("ERR_WEBHOOKS_BODY_TIMEOUT")), timeout);
  }

  /**
   * Checks the size of a body without counting it.
   *
   * @throws WebhookError `ERR_WEBHOOKS_BODY_SIZE`
   */
  check(size: number): void {
    if (size > this.#limits.maxSize) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
  }

  /** Ends the time limit: all of the body has arrived. It counts until it is closed. */
  settle(): void {
    clearTimeout(this.#timer);
    this.share.settle();
  }

  /** Stops counting: the body is verified, or dropped. */
  close(): void {
    clearTimeout(this.#timer);
    this.share.close();
  }
}

/** Returns the error of a receiver for what ended the reading of a body. */
export function readingError(cause: unknown): WebhookError {
  if (cause instanceof WebhookError) return cause;
  if (cause instanceof BodyTooLargeError) return bodyError("ERR_WEBHOOKS_BODY_SIZE");
  if (cause instanceof BodyBudgetError) return bodyError("ERR_WEBHOOKS_BODY_BUDGET");
  return bodyError("ERR_WEBHOOKS_BODY", cause);
}
