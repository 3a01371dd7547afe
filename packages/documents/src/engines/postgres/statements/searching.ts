import type { Lookup, Searching } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { whereSql } from "../../operations/where.ts";
import { type DialectTable, PostgresDialect } from "./dialect.ts";

/** What so many of so many documents have is common. */
const sampleSize = 100;
const commonInSample = 5;

/** Looks words up in the column of search texts, and members of lists in their indexes. */
export class PostgresSearching implements Searching {
  readonly probesVisible = true;
  readonly #table: DialectTable & { readonly quoted: string };
  /** A coordinator fetches the rows of a subquery with a limit from each server. */
  readonly walksWhole: boolean;
  readonly #isSampled: boolean;

  /** `isSampled`: whether a statement may have subqueries of which one decides about another, which not every system takes. */
  constructor(
    table: DialectTable & { readonly quoted: string },
    { isSampled }: { readonly isSampled: boolean },
  ) {
    this.#table = table;
    this.#isSampled = isSampled;
    this.walksWhole = !isSampled;
  }

  /**
   * The indexes of words and of members find all rows before they return the first one, so a sample of the latest documents
   * is looked at before.
   */
  probe(lookup: Lookup, limit: number): Statement {
    return this.count(lookup, limit);
  }

  count(lookup: Lookup, limit: number | undefined): Statement {
    const { quoted } = this.#table;
    const sql = new PostgresDialect(this.#table);
    const sample =
      `(SELECT * FROM ${quoted} WHERE deleted_at IS NULL ` +
      `ORDER BY created_at DESC, id DESC LIMIT ${sampleSize}) AS sample`;
    const common = this.#isSampled
      ? `(SELECT count(*) FROM ${sample}${whereSql(termsOf(lookup, sql))}) >= ${commonInSample}`
      : undefined;
    const terms = ["deleted_at IS NULL", ...indexedTermsOf(lookup, sql)];
    const found = `SELECT 1 FROM ${quoted}${whereSql(terms)}${sql.page(limit, 0)}`;
    const hits = `SELECT count(*) FROM (${found}) AS hits`;
    const text =
      common === undefined ? hits : `SELECT CASE WHEN ${common} THEN NULL ELSE (${hits}) END`;
    return sql.read(text, "repeated");
  }

  inOrder(rest: string): string {
    return `(SELECT * FROM ${this.#table.quoted}${rest}) AS walked`;
  }

  /** OFFSET keeps the planner from reading the rows in the order of the statement around it. */
  apart(where: string): string {
    return `(SELECT * FROM ${this.#table.quoted}${where} OFFSET 0) AS apart`;
  }
}

/** Writes the conditions that a row has what is looked up. */
function termsOf(lookup: Lookup, sql: PostgresDialect): readonly string[] {
  if (lookup.kind === "words") return sql.hasWords(lookup.words);
  return [sql.contains(lookup.path, lookup.values)];
}

/** Writes the same conditions in the form that an index serves. */
function indexedTermsOf(lookup: Lookup, sql: PostgresDialect): readonly string[] {
  if (lookup.kind === "words") return sql.search(lookup.words);
  return [sql.hasMember(lookup.path, lookup.values)];
}
