import { quoteName } from "../../dialect.ts";
import type { BoundText, Result } from "../../operation.ts";

/** Below this number of documents every plan is good enough, and a list of new entries is short. */
const fewDocuments = 1000;
/** How much a table grows before the server analyzes it again. */
const growth = 4;

/** Writes the statement that makes the server analyze a table, and what its indexes hold. */
export function analyzeSql(quoted: string): string {
  return `ANALYZE ${quoted}`;
}

/** Rows that were added to a table. */
interface Grown {
  added: number;
  /** The number of added documents at which it is analyzed next. */
  analyzedAt: number;
  /** Documents whose entries may not be in the indexes of search texts yet. */
  pending: number;
  isMoving: boolean;
}

/**
 * Does in time what the server does late, for tables that many documents were added to.
 *
 * It analyzes them by itself, but a minute later. Additions in between are analyzed once they are a
 * tenth of the table; until then the server may read a whole table for one document.
 *
 * A GIN index keeps new entries in a list, which each search reads from end to end. Its limit of 4
 * MiB holds for one writer only: with several the list has grown to 28 MiB, and a search that takes
 * half a millisecond took 50.
 */
export class Upkeep {
  readonly #run: (statement: BoundText) => Promise<Result>;
  readonly #tables = new Map<string, Grown>();

  constructor(run: (statement: BoundText) => Promise<Result>) {
    this.#run = run;
  }

  /** Counts documents that were added to a collection, and returns what it is time for. */
  recordInserts(collection: string, count: number): readonly (() => Promise<void>)[] {
    const quoted = quoteName(collection);
    const table = this.#tables.get(quoted) ?? {
      added: 0,
      analyzedAt: fewDocuments,
      pending: 0,
      isMoving: false,
    };
    this.#tables.set(quoted, table);
    table.added += count;
    table.pending += count;
    const due: (() => Promise<void>)[] = [];
    if (table.added >= table.analyzedAt) {
      table.analyzedAt = table.added * growth;
      due.push(() => this.#analyze(quoted, table));
    }
    if (table.pending >= fewDocuments && !table.isMoving) {
      due.push(() => this.#moveEntries(quoted, table));
    }
    return due;
  }

  /** Analyzes a table unless the server knows of most of its documents. */
  async #analyze(quoted: string, table: Grown): Promise<void> {
    const { rows } = await this.#run({
      text: "SELECT reltuples FROM pg_class WHERE oid = to_regclass($1)",
      values: [quoted],
    });
    const known = Number(rows[0]?.[0] ?? -1);
    if (known >= table.added) table.analyzedAt = Math.max(table.analyzedAt, known);
    else await this.#run({ text: analyzeSql(quoted), values: [] });
  }

  /** Moves pending entries into the indexes, also those added during that time. */
  async #moveEntries(quoted: string, table: Grown): Promise<void> {
    table.isMoving = true;
    try {
      while (table.pending >= fewDocuments) {
        table.pending = 0;
        await this.#run({
          text:
            "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
            "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = to_regclass($1) AND a.amname = 'gin'",
          values: [quoted],
        });
      }
    } finally {
      table.isMoving = false;
    }
  }
}
