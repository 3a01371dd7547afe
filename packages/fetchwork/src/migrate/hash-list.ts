import { hash } from "node:crypto";

/** Any number of texts as 64 bits of their SHA-256 each: 8 MB for 1,000,000. */
export class HashList {
  #hashes = new BigUint64Array(1024);
  #length = 0;
  #isSorted = true;

  /** Adds a text. */
  add(text: string): void {
    if (this.#length === this.#hashes.length) {
      const larger = new BigUint64Array(this.#length * 2);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#length] = hashOf(text);
    this.#length += 1;
    this.#isSorted = false;
  }

  /** Counts how often a text was added; more than 2 count as 2. */
  count(text: string): 0 | 1 | 2 {
    if (!this.#isSorted) this.#hashes.subarray(0, this.#length).sort();
    this.#isSorted = true;
    const wanted = hashOf(text);
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashes[middle] ?? 0n) < wanted) low = middle + 1;
      else high = middle;
    }
    if (low === this.#length || this.#hashes[low] !== wanted) return 0;
    return low + 1 < this.#length && this.#hashes[low + 1] === wanted ? 2 : 1;
  }
}

function hashOf(text: string): bigint {
  return hash("sha256", text, "buffer").readBigUInt64BE();
}
