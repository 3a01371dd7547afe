import { hash } from "node:crypto";

/** Any number of texts as 64 bits of their SHA-256 each: about 40 MB for 1,000,000. */
export class HashList {
  readonly #hashes: bigint[] = [];
  #sorted: BigUint64Array | undefined;

  /** Adds a text; `undefined` stands for none. No text may be added after the first count. */
  add(text: string | undefined): void {
    if (text !== undefined) this.#hashes.push(hashOf(text));
  }

  /** Counts how often a text was added; more than 2 count as 2. */
  count(text: string | undefined): 0 | 1 | 2 {
    if (text === undefined) return 0;
    this.#sorted ??= new BigUint64Array(this.#hashes).toSorted();
    const wanted = hashOf(text);
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] ?? 0n) < wanted) low = middle + 1;
      else high = middle;
    }
    if (this.#sorted[low] !== wanted) return 0;
    return this.#sorted[low + 1] === wanted ? 2 : 1;
  }
}

function hashOf(text: string): bigint {
  return hash("sha256", text, "buffer").readBigUInt64BE();
}
