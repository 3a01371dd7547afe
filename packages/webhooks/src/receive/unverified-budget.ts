import { bodyError } from "./body-error.ts";
import type { WebhookError } from "../errors.ts";

/**
 * Bounds the bytes of bodies that are not verified yet, over all requests, because anybody can send them. Beyond it the
 * largest body that is still arriving is refused, so that a few large ones do not keep small ones out.
 */
export class UnverifiedBudget {
  /** Bytes. */
  readonly maximum: number;
  readonly #arriving = new Set<UnverifiedBody>();
  #size = 0;

  constructor(maximum: number) {
    this.maximum = maximum;
  }

  /** Starts to count a body. */
  open(): UnverifiedBody {
    return new UnverifiedBody({
      grow: (body, size) => this.#grow(body, size),
      settle: (body) => this.#arriving.delete(body),
      close: (body) => this.#close(body),
    });
  }

  #grow(body: UnverifiedBody, size: number): void {
    this.#arriving.add(body);
    this.#size += size - body.size;
    body.size = size;
    while (this.#size > this.maximum) {
      let largest = body;
      for (const other of this.#arriving) if (other.size > largest.size) largest = other;
      this.#close(largest);
      const error = bodyError("ERR_WEBHOOKS_BODY_BUDGET");
      if (largest === body) throw error;
      largest.onRefused?.(error);
    }
  }

  #close(body: UnverifiedBody): void {
    this.#arriving.delete(body);
    this.#size -= body.size;
    body.size = 0;
  }
}

/** A body that counts for an {@link UnverifiedBudget}. */
export class UnverifiedBody {
  /** Bytes that are counted. Written by the budget only. */
  size = 0;
  /** Called when the budget refuses this body in favour of others; its bytes are to be let go. */
  onRefused: ((error: WebhookError) => void) | undefined;
  readonly #counting: Counting;

  constructor(counting: Counting) {
    this.#counting = counting;
  }

  /**
   * Counts so many bytes, of which all but the last ones were counted before.
   *
   * @throws WebhookError `ERR_WEBHOOKS_BODY_BUDGET`
   */
  grow(size: number): void {
    this.#counting.grow(this, size);
  }

  /** Counts on, but is no longer refused in favour of others: all of it has arrived. */
  settle(): void {
    this.onRefused = undefined;
    this.#counting.settle(this);
  }

  /** Ends the counting: the body is verified, or let go. */
  close(): void {
    this.#counting.close(this);
  }
}

interface Counting {
  readonly grow: (body: UnverifiedBody, size: number) => void;
  readonly settle: (body: UnverifiedBody) => void;
  readonly close: (body: UnverifiedBody) => void;
}
