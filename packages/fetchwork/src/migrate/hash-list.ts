import { hash } from "node:crypto";

/** Any number of texts as 64 bits of their SHA-256 each: 8 MB for 1,000,000. */
export class HashList {
  #hashes = new BigUint64Array(1024);
  #length = 0;
  #isSorted = true;

  /** Adds a text; `undefined` stands for none. */
  add(text: string | undefined): void {
    if (text === undefined) return;
    if (this.#length === this.#hashes.length) {
      this.#hashes = new BigUint64Array(this.#hashes.buffer.transfer(this.#hashes.byteLength * 2));
    }
    this.#hashes[this.#length] = hashOf(text);
    this.#length += 1;
    this.#isSorted = false;
  }

  /** Counts how often a text was added; more than 2 count as 2. */
  count(text: string | undefined): 0 | 1 | 2 {
    if (text === undefined) return 0;
    const hashes = this.#hashes.subarray(0, this.#length);
    if (!this.#isSorted) hashes.sort();
    this.#isSorted = true;
    const wanted = hashOf(text);
    let [low, high] = [0, hashes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((hashes[middle] ?? 0n) < wanted) low = middle + 1;
      else high = middle;
    }
    if (hashes[low] !== wanted) return 0;
    return hashes[low + 1] === wanted ? 2 : 1;
  }
}

function hashOf(text: string): bigint {
  return hash("sha256", text, "buffer").readBigUInt64BE();
}
