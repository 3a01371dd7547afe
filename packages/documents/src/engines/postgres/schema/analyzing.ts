import type { BoundText, Result } from "../../operation.ts";

/** Below this number of documents every plan is good enough. */
const fewDocuments = 1000;
/** How much a table grows before the server analyzes it again. */
const growth = 4;

/** Writes the statement that makes the server analyze a table, and what its indexes hold. */
export function analyzeSql(quoted: string): string {
  return `ANALYZE ${quoted}`;
}

/**
 * Has the server analyze tables that many documents were added to. It does so by itself, but a minute later, and not for
 * what was added in between until it is a tenth of the table; until then it may read a whole table for one document.
 */
export class Analyzing {
  readonly #run: (statement: BoundText) => Promise<Result>;
  readonly #grown = new Map<string, { added: number; next: number }>();

  constructor(run: (statement: BoundText) => Promise<Result>) {
    this.#run = run;
  }

  /** Counts documents that were added to a table; returns whether it is time to analyze it. */
  recordInserts(quoted: string, count: number): boolean {
    const grown = this.#grown.get(quoted) ?? { added: 0, next: fewDocuments };
    this.#grown.set(quoted, grown);
    grown.added += count;
    if (grown.added < grown.next) return false;
    grown.next = grown.added * growth;
    return true;
  }

  /** Analyzes a table unless the server knows of most of its documents. */
  async analyze(quoted: string): Promise<void> {
    const { rows } = await this.#run({
      text: "SELECT reltuples FROM pg_class WHERE oid = to_regclass($1)",
      values: [quoted],
    });
    const known = Number(rows[0]?.[0] ?? -1);
    const grown = this.#grown.get(quoted);
    if (grown === undefined) return;
    if (known >= grown.added) grown.next = Math.max(grown.next, known);
    else await this.#run({ text: analyzeSql(quoted), values: [] });
  }
}
