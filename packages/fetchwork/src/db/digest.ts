import { createHash } from "node:crypto";
import type { DocumentRecord } from "@fetchwork/documents";

/** Sums up documents, the same for every engine. */
export class Digest {
  readonly #hash = createHash("sha256");
  #documents = 0;
  #removed = 0;

  /** The documents so far. */
  get documents(): number {
    return this.#documents;
  }

  /** Number of those that are soft-deleted. */
  get removed(): number {
    return this.#removed;
  }

  /** Adds the next document. */
  add(record: DocumentRecord): void {
    this.#documents += 1;
    if (record.deletedAt !== undefined) this.#removed += 1;
    this.#hash.update(`${canonical(record)}\n`);
  }

  /** Returns the SHA-256 of all documents; nothing can be added afterwards. */
  end(): string {
    return this.#hash.digest("hex");
  }
}

/** Writes JSON with sorted object fields, because PostgreSQL does not preserve their order. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
}
