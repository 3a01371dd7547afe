/** Bytes of the first buffer. */
const minimumCapacity = 65_536;

/**
 * Collects the chunks of a body. They are copied together as they arrive, because a chunk of one byte takes some hundred
 * bytes of memory for as long as it is kept, and the sender chooses the sizes. A body of one chunk is not copied.
 */
export class ByteCollector {
  #size = 0;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #isOwn = false;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds a chunk, which must not change afterwards. */
  add(chunk: Uint8Array): void {
    if (this.#size === 0) {
      // Bodies are in memory of their own; the types allow shared memory too.
      this.#buffer = chunk as Uint8Array<ArrayBuffer>;
      this.#isOwn = false;
    } else {
      this.#makeRoom(this.#size + chunk.byteLength);
      this.#buffer.set(chunk, this.#size);
    }
    this.#size += chunk.byteLength;
  }

  /** All bytes in one array. */
  join(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#size);
  }

  #makeRoom(size: number): void {
    if (this.#isOwn && size <= this.#buffer.byteLength) return;
    const larger = new Uint8Array(Math.max(minimumCapacity, size, 2 * this.#size));
    larger.set(this.#buffer.subarray(0, this.#size));
    this.#buffer = larger;
    this.#isOwn = true;
  }
}
