import type { Layout, Searching, Timed } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { SqliteDialect, type SqliteTable } from "./dialect.ts";

/** Looks words up in the table of search texts. */
export class SqliteSearching implements Searching {
  /** The texts of removed documents are there too. */
  readonly probesVisible: boolean;
  readonly #layout: Pick<Layout, "quoted"> & SqliteTable;

  constructor(layout: Pick<Layout, "quoted" | "softDelete"> & SqliteTable) {
    this.#layout = layout;
    this.probesVisible = !layout.softDelete;
  }

  probe(words: readonly string[], limit: number): Statement {
    const sql = new SqliteDialect(this.#layout, false);
    const found = sql.matches(words);
    return sql.read(
      `SELECT count(*), json_group_array(rowid) FROM (SELECT rowid FROM ${found}${sql.page(limit, 0)})`,
    );
  }

  /** The index returns its rows one by one, so no more are visited than are counted. */
  count(
    words: readonly string[],
    limit: number | undefined,
    { isTimed = false }: Timed = {},
  ): Statement {
    const sql = new SqliteDialect(this.#layout, isTimed);
    const found = sql.matches(words);
    return sql.read(`SELECT count(*) FROM (SELECT 1 FROM ${found}${sql.page(limit, 0)})`);
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
