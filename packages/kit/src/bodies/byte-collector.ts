/** Size of the first buffer in bytes. */
const minimumCapacity = 65_536;

/**
 * Collects the chunks of a body. It copies them into one buffer as they arrive: the sender chooses
 * their sizes, and a chunk takes about a hundred bytes of memory, however small it is. A body of
 * one chunk is not copied.
 */
export class ByteCollector {
  #size = 0;
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #isOwn = false;

  /** Number of bytes collected so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds a chunk. Do not change it afterwards. */
  add(chunk: Uint8Array): void {
    if (this.#size === 0) {
      // The types allow shared memory, but bodies never use it.
      this.#buffer = chunk as Uint8Array<ArrayBuffer>;
      this.#isOwn = false;
    } else {
      this.#makeRoom(this.#size + chunk.byteLength);
      this.#buffer.set(chunk, this.#size);
    }
    this.#size += chunk.byteLength;
  }

  /** Returns all bytes in one array. */
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
