import { partsOf } from "../../../document/search-text.ts";
import type { FoundBy, Layout, Lookup, Searching } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { filterSql } from "../../operations/filter-sql.ts";
import { sampleSize } from "../../operations/search.ts";
import { whereSql } from "../../operations/where.ts";
import { SqliteDialect, SqliteKeyDialect, type SqliteTable } from "./dialect.ts";

/** The part of a collection that a search needs. */
interface SearchedTable extends Pick<Layout, "quoted" | "softDelete">, SqliteTable {
  begin(): SqliteDialect;
}

/** Looks up words in search texts, members in their tables, conditions in indexes. */
export class SqliteSearching implements Searching {
  readonly findsConditions = true;
  /** The texts and members of removed documents are there too. */
  readonly probesVisible: boolean;
  readonly walksWhole = false;
  readonly #layout: SearchedTable;

  constructor(layout: SearchedTable) {
    this.#layout = layout;
    this.probesVisible = !layout.softDelete;
  }

  /** Finds some rows more for ambiguous values, since all that are found are looked at. */
  probe(lookup: Lookup, limit: number): Statement {
    const sql = new SqliteKeyDialect(this.#layout, false);
    const found = `${this.#rowsOf(lookup, sql)}${sql.page(limit, 0)}`;
    return sql.read(`SELECT count(*), json_group_array(found) FROM (${found})`);
  }

  sample(words: readonly string[]): Statement {
    const sql = new SqliteDialect(this.#layout, false);
    const all = sql.textHas(words);
    const counts = [all, ...partsOf(words).parts.map((part) => sql.textHas([part]))].map(
      (condition) => `count(*) FILTER (WHERE ${condition})`,
    );
    const { quotedSearch } = this.#layout;
    const latest = `SELECT text FROM ${quotedSearch} ORDER BY rowid DESC${sql.page(sampleSize, 0)}`;
    return sql.read(`SELECT ${counts.join(", ")} FROM (${latest}) AS found`);
  }

  /** The index returns its rows one by one, so no more are visited than are counted. */
  count(lookup: Lookup, limit: number | undefined): Statement {
    const sql = this.#layout.begin();
    const found = `${this.#rowsOf(lookup, sql)}${sql.page(limit, 0)}`;
    return sql.read(`SELECT count(*) FROM (${found})`);
  }

  /** Reads nothing but the number of the rows that the rest leaves out. */
  inOrder(rest: string): string {
    const { quoted } = this.#layout;
    return `(SELECT seq AS walked FROM ${quoted}${rest}) CROSS JOIN ${quoted} ON seq = walked`;
  }

  apart(where: string, foundBy: FoundBy): string {
    const hasKeys = typeof foundBy === "object" && "keys" in foundBy;
    // That leaves the numbers of rows.
    return `${this.#layout.quoted}${hasKeys ? " NOT INDEXED" : ""}${where}`;
  }

  /** Writes a SELECT of the numbers of rows, each once. */
  #rowsOf(lookup: Lookup, sql: SqliteDialect): string {
    if (lookup.kind === "words") return `SELECT rowid AS found FROM ${sql.matches(lookup.words)}`;
    if (lookup.kind === "conditions") {
      const terms = [...sql.countVisited(), ...lookup.filters.map((each) => filterSql(each, sql))];
      return `SELECT seq AS found FROM ${this.#layout.quoted}${whereSql(terms)}`;
    }
    const { path, values } = lookup;
    // A list may have several of the values.
    const each = values.length === 1 ? "" : "DISTINCT ";
    return `SELECT ${each}document AS found FROM ${sql.members(path, values)}`;
  }
}
