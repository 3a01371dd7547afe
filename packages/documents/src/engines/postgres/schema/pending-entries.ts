import type { BoundText, Result } from "../../operation.ts";

/** Number of added documents after which their entries are moved into the indexes. */
const fewDocuments = 1000;

/**
 * Has the server move new entries into the indexes of search texts. A GIN index keeps them in a list, which each search
 * reads from end to end. Its limit of 4 MiB holds for one writer only: with several the list has grown to 28 MiB, and a
 * search that takes half a millisecond took 50.
 */
export class PendingEntries {
  readonly #run: (statement: BoundText) => Promise<Result>;
  readonly #added = new Map<string, number>();
  readonly #moving = new Set<string>();

  constructor(run: (statement: BoundText) => Promise<Result>) {
    this.#run = run;
  }

  /** Counts documents that were added to a table; returns whether it is time to move their entries. */
  recordInserts(quoted: string, count: number): boolean {
    const added = (this.#added.get(quoted) ?? 0) + count;
    this.#added.set(quoted, added);
    return added >= fewDocuments && !this.#moving.has(quoted);
  }

  /** Moves the entries, also of what is added in the meantime. */
  async move(quoted: string): Promise<void> {
    this.#moving.add(quoted);
    try {
      while ((this.#added.get(quoted) ?? 0) >= fewDocuments) {
        this.#added.set(quoted, 0);
        await this.#run({
          text:
            "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
            "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = to_regclass($1) AND a.amname = 'gin'",
          values: [quoted],
        });
      }
    } finally {
      this.#moving.delete(quoted);
    }
  }
}
