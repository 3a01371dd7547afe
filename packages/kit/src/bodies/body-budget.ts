import { BodyBudgetError, BodyTooLargeError } from "./body-errors.ts";

/**
 * Bounds the bytes of all bodies that are read into memory at the same time. Beyond it the largest
 * body that is still arriving is refused: a few large bodies must not keep small ones out.
 */
export class BodyBudget {
  /** Bytes. */
  readonly maximum: number;
  readonly #arriving = new Set<BodyShare>();
  #size = 0;

  /** @param maximum - Bytes. Default: `67_108_864` (64 MiB). */
  constructor(maximum: number = 67_108_864) {
    this.maximum = maximum;
  }

  /** Bytes of all bodies that are counted. */
  get size(): number {
    return this.#size;
  }

  /**
   * Opens the share of one body. Close it when the body is no longer used.
   *
   * @param limit - Maximum bytes of the body for readers that have no limit. Default: the maximum
   * of the budget.
   */
  open(limit: number = this.maximum): BodyShare {
    return new BodyShare(this, limit);
  }

  /** @internal Counts more bytes of a body that is arriving. */
  add(body: BodyShare, bytes: number): void {
    this.#arriving.add(body);
    this.#size += bytes;
    while (this.#size > this.maximum) {
      let largest = body;
      for (const other of this.#arriving) if (other.size > largest.size) largest = other;
      const error = new BodyBudgetError();
      if (largest === body) {
        body.close();
        throw error;
      }
      largest.refuse(error);
    }
  }

  /** @internal Keeps a complete body from being refused for others. It still counts. */
  settle(body: BodyShare): void {
    this.#arriving.delete(body);
  }

  /** @internal Stops counting a body. */
  remove(body: BodyShare): void {
    this.#arriving.delete(body);
    this.#size -= body.size;
  }
}

/** The shares of streams whose reader does not know the budget. */
const shares = new WeakMap<ReadableStream, BodyShare>();

/** Share of one body in a {@link BodyBudget}, from its first byte until it is closed. */
export class BodyShare {
  /** Maximum bytes of the body for readers that have no limit. */
  readonly limit: number;
  readonly #budget: BodyBudget;
  #size = 0;
  #isClosed = false;
  #onRefused: ((error: BodyBudgetError) => void) | undefined;

  constructor(budget: BodyBudget, limit: number) {
    this.#budget = budget;
    this.limit = limit;
  }

  /** The share in which a stream counts when `readBody` reads it. */
  static of(stream: ReadableStream): BodyShare | undefined {
    return shares.get(stream);
  }

  /** Makes a stream count in this share when `readBody` reads it. */
  attachTo(stream: ReadableStream): void {
    shares.set(stream, this);
  }

  /** Bytes that are counted. */
  get size(): number {
    return this.#size;
  }

  /** Starts reading. The listener drops the bytes when the body is refused for others. */
  start(onRefused: (error: BodyBudgetError) => void): void {
    if (!this.#isClosed) this.#onRefused = onRefused;
  }

  /**
   * Counts bytes before they are kept. A closed share counts nothing. Closes the share when it
   * throws.
   *
   * @param size - All bytes so far.
   * @throws BodyTooLargeError `ERR_KIT_BODY_TOO_LARGE` when the body alone is larger than the whole
   * budget
   * @throws BodyBudgetError `ERR_KIT_BODY_BUDGET` when this body is the largest, beyond the budget
   */
  grow(size: number): void {
    if (this.#isClosed) return;
    if (size > this.#budget.maximum) {
      this.close();
      throw new BodyTooLargeError(this.#budget.maximum);
    }
    const added = size - this.#size;
    this.#size = size;
    this.#budget.add(this, added);
  }

  /** All of the body has arrived: it is not refused any more. It counts until it is closed. */
  settle(): void {
    this.#onRefused = undefined;
    this.#budget.settle(this);
  }

  /** @internal */
  refuse(error: BodyBudgetError): void {
    const onRefused = this.#onRefused;
    this.close();
    onRefused?.(error);
  }

  /** Stops counting: the body is used up, or dropped. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onRefused = undefined;
    this.#budget.remove(this);
    this.#size = 0;
  }
}
