import type { Layout, Lookup, Searching, Timed } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { SqliteDialect, type SqliteTable } from "./dialect.ts";

/** Looks words up in the table of search texts, and members of lists in theirs. */
export class SqliteSearching implements Searching {
  /** The texts and members of removed documents are there too. */
  readonly probesVisible: boolean;
  readonly walksWhole = false;
  readonly #layout: Pick<Layout, "quoted"> & SqliteTable;

  constructor(layout: Pick<Layout, "quoted" | "softDelete"> & SqliteTable) {
    this.#layout = layout;
    this.probesVisible = !layout.softDelete;
  }

  probe(lookup: Lookup, limit: number): Statement {
    const sql = new SqliteDialect(this.#layout, false);
    const found = `${rowsOf(lookup, sql)}${sql.page(limit, 0)}`;
    return sql.read(`SELECT count(*), json_group_array(found) FROM (${found})`);
  }

  /** The index returns its rows one by one, so no more are visited than are counted. */
  count(lookup: Lookup, limit: number | undefined, { isTimed = false }: Timed = {}): Statement {
    const sql = new SqliteDialect(this.#layout, isTimed);
    const found = `${rowsOf(lookup, sql)}${sql.page(limit, 0)}`;
    return sql.read(`SELECT count(*) FROM (${found})`);
  }

  /** Of the rows that the rest leaves out, nothing but the number is read. */
  inOrder(rest: string): string {
    const { quoted } = this.#layout;
    return `(SELECT seq AS walked FROM ${quoted}${rest}) CROSS JOIN ${quoted} ON seq = walked`;
  }

  apart(where: string): string {
    return this.#layout.quoted + where;
  }
}

/** Writes a SELECT of the numbers of rows, each once. */
function rowsOf(lookup: Lookup, sql: SqliteDialect): string {
  if (lookup.kind === "words") return `SELECT rowid AS found FROM ${sql.matches(lookup.words)}`;
  const { path, values } = lookup;
  // A list may have several of the values.
  const each = values.length === 1 ? "" : "DISTINCT ";
  return `SELECT ${each}document AS found FROM ${sql.members(path, values)}`;
}
