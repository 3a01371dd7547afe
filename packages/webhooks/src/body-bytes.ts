/** Bytes of the first buffer. */
const leastCapacity = 65_536;

/**
 * Collects the chunks of a body. They are copied together as they come, because a chunk of one byte takes some hundred
 * bytes of memory as long as it is kept; a body of one chunk is not copied.
 */
export class BodyBytes {
  #size = 0;
  #buffer: Uint8Array = new Uint8Array(0);
  #isOwn = false;

  /** How many bytes have come. */
  get size(): number {
    return this.#size;
  }

  add(chunk: Uint8Array): void {
    if (this.#size === 0) {
      this.#buffer = chunk;
    } else {
      this.#makeRoom(this.#size + chunk.byteLength);
      this.#buffer.set(chunk, this.#size);
    }
    this.#size += chunk.byteLength;
  }

  /** The whole body. */
  join(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  #makeRoom(size: number): void {
    if (this.#isOwn && size <= this.#buffer.byteLength) return;
    const larger = new Uint8Array(Math.max(leastCapacity, size, 2 * this.#size));
    larger.set(this.#buffer.subarray(0, this.#size));
    this.#buffer = larger;
    this.#isOwn = true;
  }
}
