const headerSize = 20;
/** The type `text`. */
const textType = 25;
const nullLength = -1;

/**
 * A list that is sent as PostgreSQL holds a `text[]`: without the quotes and backslashes of a
 * literal, which cost more than everything else about a list of documents.
 */
export class TextArray {
  readonly #elements: readonly (string | null)[];

  constructor(elements: readonly (number | string | null)[]) {
    this.#elements = elements.map((element) =>
      typeof element === "number" ? String(element) : element,
    );
  }

  /** The bytes that it takes. */
  get size(): number {
    let size = headerSize;
    for (const element of this.#elements) {
      size += 4 + (element === null ? 0 : Buffer.byteLength(element));
    }
    return size;
  }

  /** Writes it; returns the place after it. */
  write(buffer: Buffer, place: number): number {
    const elements = this.#elements;
    // Dimensions, whether there are nulls, the type; of the dimension its length and first index.
    let at = buffer.writeInt32BE(1, place);
    at = buffer.writeInt32BE(elements.includes(null) ? 1 : 0, at);
    at = buffer.writeInt32BE(textType, at);
    at = buffer.writeInt32BE(elements.length, at);
    at = buffer.writeInt32BE(1, at);
    for (const element of elements) {
      const length = element === null ? nullLength : buffer.write(element, at + 4);
      buffer.writeInt32BE(length, at);
      at += 4 + Math.max(length, 0);
    }
    return at;
  }
}
