// A chunk of one byte takes a hundred bytes of memory; a sender chooses the sizes.
const smallest = 4096;
const blockSize = 16_384;
/** Chunks that are kept as they are, whatever their size: most bodies have no more. */
const keptAsTheyAre = 16;

/** Collects the chunks of a body in little more memory than their bytes take, however small they are. */
export class ChunkList {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #block: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /** Where the part of the block starts that is no chunk yet, and where it ends. */
  #start = 0;
  #end = 0;
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.byteLength;
    if (chunk.byteLength >= smallest || this.#chunks.length < keptAsTheyAre) {
      this.#finishPart();
      // Bodies are in memory of their own; the types allow shared memory too.
      this.#chunks.push(chunk as Uint8Array<ArrayBuffer>);
      return;
    }
    if (chunk.byteLength > this.#block.length - this.#end) {
      this.#finishPart();
      this.#block = new Uint8Array(blockSize);
      this.#start = 0;
      this.#end = 0;
    }
    this.#block.set(chunk, this.#end);
    this.#end += chunk.byteLength;
  }

  /** All chunks, for the caller to change. */
  take(): Uint8Array<ArrayBuffer>[] {
    this.#finishPart();
    return this.#chunks;
  }

  #finishPart(): void {
    if (this.#end === this.#start) return;
    this.#chunks.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
