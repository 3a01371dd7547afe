import type { Row } from "./row-query.ts";
import type { Statement } from "./sql.ts";
import type { Table } from "./table.ts";

/** Below this number of documents every plan is good enough. */
const FEW = 1000;
/** How much a table grows before the server looks at it again. */
const GROWTH = 4;

/** Writes the statement that makes the server look at a table, and at what its indexes hold. */
export function analyzeSql({ quoted }: Table): string {
  return `ANALYZE ${quoted}`;
}

/**
 * Lets the server look at tables that many documents were added to. It does so by itself, but a
 * minute later, and not for what was added in between until it is a tenth of the table; until then
 * it may read a whole table for one document.
 */
export class Analyzing {
  readonly #run: (statement: Statement) => Promise<{ readonly rows: readonly Row[] }>;
  readonly #grown = new WeakMap<Table, { added: number; next: number }>();

  constructor(run: (statement: Statement) => Promise<{ readonly rows: readonly Row[] }>) {
    this.#run = run;
  }

  /** Notes documents that were added; tells whether it is time to look. */
  note(table: Table, count: number): boolean {
    const grown = this.#grown.get(table) ?? { added: 0, next: FEW };
    this.#grown.set(table, grown);
    grown.added += count;
    if (grown.added < grown.next) return false;
    grown.next = grown.added * GROWTH;
    return true;
  }

  /** Looks at a table unless the server knows of most of its documents. */
  async look(table: Table): Promise<void> {
    const { rows } = await this.#run({
      text: "SELECT reltuples FROM pg_class WHERE oid = to_regclass($1)",
      values: [table.quoted],
    });
    const known = Number(rows[0]?.[0] ?? -1);
    const grown = this.#grown.get(table);
    if (grown === undefined) return;
    if (known < grown.added) await this.#run({ text: analyzeSql(table), values: [] });
    else grown.next = Math.max(grown.next, known);
  }
}
