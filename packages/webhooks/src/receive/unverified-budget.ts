import { bodyError, type WebhookError } from "../errors.ts";

/** Limits of one body. */
export interface BodyLimits {
  /** Bytes. */
  readonly maxSize: number;
  /** Milliseconds until all of it must have arrived, or `Infinity`. */
  readonly timeout: number;
}

/**
 * Bounds the bytes of bodies that are not verified yet, over all requests, because anyone can send them. Beyond it the
 * largest body that is still arriving is refused, so that a few large bodies do not keep small ones out.
 */
export class UnverifiedBudget {
  /** Bytes. */
  readonly maximum: number;
  readonly #arriving = new Set<UnverifiedBody>();
  #size = 0;

  constructor(maximum: number) {
    this.maximum = maximum;
  }

  open(limits: BodyLimits): UnverifiedBody {
    return new UnverifiedBody(this, limits);
  }

  /**
   * Counts more bytes of a body that is arriving.
   *
   * @throws WebhookError `ERR_WEBHOOKS_BODY_BUDGET` when this body is the largest, beyond the maximum
   */
  add(body: UnverifiedBody, bytes: number): void {
    this.#arriving.add(body);
    this.#size += bytes;
    while (this.#size > this.maximum) {
      let largest = body;
      for (const other of this.#arriving) if (other.size > largest.size) largest = other;
      largest.close();
      const error = bodyError("ERR_WEBHOOKS_BODY_BUDGET");
      if (largest === body) throw error;
      largest.refuse(error);
    }
  }

  /** Keeps a body from being refused in favour of others, because all of it has arrived. It still counts. */
  settle(body: UnverifiedBody): void {
    this.#arriving.delete(body);
  }

  /** Stops counting a body. */
  remove(body: UnverifiedBody): void {
    this.#arriving.delete(body);
    this.#size -= body.size;
  }
}

/** One body, from its first byte until it is verified: its limits of size and time, and its share of the budget. */
export class UnverifiedBody {
  readonly #budget: UnverifiedBudget;
  readonly #limits: BodyLimits;
  #size = 0;
  #refuse: ((error: WebhookError) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(budget: UnverifiedBudget, limits: BodyLimits) {
    this.#budget = budget;
    this.#limits = limits;
  }

  /** Bytes that are counted. */
  get size(): number {
    return this.#size;
  }

  /**
   * Starts the time limit.
   *
   * @param onRefused - Called when the time is over, or when the budget refuses this body in favour of others. Must drop
   *   the bytes.
   */
  start(onRefused: (error: WebhookError) => void): void {
    this.#refuse = onRefused;
    const { timeout } = this.#limits;
    if (timeout === Infinity) return;
    this.#timer = setTimeout(() => this.refuse(bodyError("ERR_WEBHOOKS_BODY_TIMEOUT")), timeout);
  }

  /**
   * Counts bytes before they are kept.
   *
   * @param size - All bytes so far.
   * @throws WebhookError `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_BUDGET`
   */
  grow(size: number): void {
    this.check(size);
    const added = size - this.#size;
    this.#size = size;
    this.#budget.add(this, added);
  }

  /**
   * Checks the size of a body without counting it.
   *
   * @throws WebhookError `ERR_WEBHOOKS_BODY_SIZE`
   */
  check(size: number): void {
    if (size > this.#limits.maxSize) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
  }

  refuse(error: WebhookError): void {
    this.#refuse?.(error);
  }

  /** Ends the time limit: all of the body has arrived. It counts until it is closed. */
  settle(): void {
    clearTimeout(this.#timer);
    this.#refuse = undefined;
    this.#budget.settle(this);
  }

  /** Stops counting: the body is verified, or dropped. */
  close(): void {
    clearTimeout(this.#timer);
    this.#budget.remove(this);
    this.#size = 0;
  }
}
