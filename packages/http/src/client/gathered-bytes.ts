/** Pieces smaller than this are copied together: each one by itself costs more memory than it holds. */
const smallPiece = 4_096;
const blockSize = 65_536;

/**
 * Gathers a body that arrives in pieces. A sender chooses how small they are, so what is kept is in proportion to their
 * bytes and not to their number.
 */
export class GatheredBytes {
  readonly #blocks: Uint8Array[] = [];
  #open: Uint8Array | undefined;
  #filled = 0;
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds a piece; one that is not small is kept as it is. */
  add(piece: Uint8Array): void {
    this.#size += piece.byteLength;
    if (piece.byteLength >= smallPiece) {
      this.#closeBlock();
      this.#blocks.push(piece);
      return;
    }
    if (this.#open !== undefined && this.#filled + piece.byteLength > blockSize) this.#closeBlock();
    this.#open ??= new Uint8Array(blockSize);
    this.#open.set(piece, this.#filled);
    this.#filled += piece.byteLength;
  }

  /** All bytes in one array; the only piece itself, when it was not small. */
  join(): Uint8Array {
    this.#closeBlock();
    const [first] = this.#blocks;
    if (first !== undefined && this.#blocks.length === 1) return first;
    const whole = new Uint8Array(this.#size);
    let offset = 0;
    for (const block of this.#blocks) {
      whole.set(block, offset);
      offset += block.byteLength;
    }
    return whole;
  }

  #closeBlock(): void {
    if (this.#open === undefined) return;
    // A copy, so that little does not hold a whole block.
    this.#blocks.push(this.#filled === blockSize ? this.#open : this.#open.slice(0, this.#filled));
    this.#open = undefined;
    this.#filled = 0;
  }
}
