import {
  BodyBudgetError,
  type BodyBudget,
  type BodyShare,
  BodyTooLargeError,
} from "@fetchwork/kit";
import { bodyError, WebhookError } from "../errors.ts";

/** One body until it is verified: its limits of size and time, and its share of the budget. */
export class UnverifiedBody {
  readonly share: BodyShare;
  readonly #timeout: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param maxSize - Bytes.
   * @param timeout - Milliseconds until all of it must have arrived, or `Infinity`.
   */
  constructor(budget: BodyBudget, maxSize: number, timeout: number) {
    this.share = budget.open(maxSize);
    this.#timeout = timeout;
  }

  /** Starts the time limit. */
  start(onTimeout: (error: WebhookError) => void): void {
    if (this.#timeout === Infinity) return;
    const end = (): void => onTimeout(bodyError("ERR_WEBHOOKS_BODY_TIMEOUT"));
    this.#timer = setTimeout(end, this.#timeout);
  }

  /**
   * Checks the size of a body without counting it.
   *
   * @throws WebhookError `ERR_WEBHOOKS_BODY_SIZE`
   */
  check(size: number): void {
    if (size > this.share.limit) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
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
