import { partsOf } from "../../../document/search-text.ts";
import type { Layout, Lookup, Searching } from "../../layout.ts";
import type { Statement } from "../../operation.ts";
import { commonInSample, manyEntries, sampleSize } from "../../operations/search.ts";
import { filterSql } from "../../operations/filter-sql.ts";
import { whereSql } from "../../operations/where.ts";
import { type DialectTable, PostgresDialect } from "./dialect.ts";
import { quoteText } from "./keys.ts";

/** Looks words up in the column of search texts, and members of lists in their indexes. */
export class PostgresSearching implements Searching {
  /** PostgreSQL has statistics of them. */
  readonly findsConditions = false;
  readonly probesVisible = true;
  readonly #table: DialectTable & Pick<Layout, "columns" | "packed" | "quoted">;
  /** A coordinator fetches the rows of a subquery with a limit from each server. */
  readonly walksWhole: boolean;
  readonly #isSampled: boolean;

  /** `isSampled`: whether subqueries may decide on others, which some systems refuse. */
  constructor(
    table: DialectTable & Pick<Layout, "columns" | "packed" | "quoted">,
    { isSampled }: { readonly isSampled: boolean },
  ) {
    this.#table = table;
    this.#isSampled = isSampled;
    this.walksWhole = !isSampled;
  }

  /**
   * The indexes of words and of members find all rows before they return one. So a sample of the
   * latest documents is looked at before.
   */
  probe(lookup: Lookup, limit: number): Statement {
    return this.count(lookup, limit);
  }

  get probePage(): Searching["probePage"] {
    return this.#isSampled ? this.#probePage : undefined;
  }

  count(lookup: Lookup, limit: number | undefined): Statement {
    const sql = new PostgresDialect(this.#table);
    const common = this.#isSampled ? this.#commonSql(lookup, sql) : undefined;
    const found = `SELECT 1 FROM ${this.#foundSql(lookup, sql)}${sql.page(limit, 0)}`;
    const hits = `SELECT count(*) FROM (${found}) AS hits`;
    const text =
      common === undefined ? hits : `SELECT CASE WHEN ${common} THEN NULL ELSE (${hits}) END`;
    return sql.read(text, "repeated");
  }

  readonly #probePage: NonNullable<Searching["probePage"]> = (lookup, limit, { maxHits, rest }) => {
    const { columns } = this.#table;
    const sql = new PostgresDialect(this.#table);
    const common = `SELECT ${this.#commonSql(lookup, sql)} AS it`;
    const terms = `${this.#foundSql(lookup, sql)} AND NOT (SELECT it FROM common)`;
    const found = `SELECT * FROM ${terms}${sql.page(limit, 0)}`;
    const page =
      `SELECT ${columns} FROM (SELECT * FROM found WHERE (SELECT count(*) FROM found) <= ${maxHits}) ` +
      `AS few${rest(sql)}`;
    return sql.read(
      `WITH common AS MATERIALIZED (${common}), found AS MATERIALIZED (${found}) ` +
        "SELECT CASE WHEN (SELECT it FROM common) THEN NULL ELSE to_json(count(*)) END FROM found " +
        `UNION ALL (${this.#table.packed?.(page) ?? page})`,
      "repeated",
    );
  };

  #commonSql(lookup: Lookup, sql: PostgresDialect): string {
    const { quoted } = this.#table;
    const sample =
      `(SELECT * FROM ${quoted} WHERE deleted_at IS NULL ` +
      `ORDER BY created_at DESC, id DESC LIMIT ${sampleSize}) AS sample`;
    const together = countSql(termsOf(lookup, sql));
    if (lookup.kind !== "words") return `(SELECT ${together} >= ${commonInSample} FROM ${sample})`;
    // The parts of words may be common alone and rare together; then their index is read for long.
    const { parts, count } = partsOf(lookup.words);
    const counts = parts.map((part) => countSql(sql.hasWords([part])));
    const counted = `SELECT ${together} AS together, least(${counts.join(", ")}) AS rarest FROM ${sample}`;
    // The count of the last analysis, scaled to the pages that the table has now: as the planner
    // does.
    const documents =
      "reltuples / greatest(relpages, 1) * pg_relation_size(oid) / current_setting('block_size')::int8";
    const entries = `rarest * ${sql.bind(count, "numeric")} * ${documents} > ${manyEntries * sampleSize}`;
    return (
      `(SELECT together >= ${commonInSample} OR ${entries} ` +
      `FROM (${counted}) AS counted, pg_class WHERE oid = ${quoteText(quoted)}::regclass)`
    );
  }

  #foundSql(lookup: Lookup, sql: PostgresDialect): string {
    const terms = ["deleted_at IS NULL", ...indexedTermsOf(lookup, sql)];
    return `${this.#table.quoted}${whereSql(terms)}`;
  }

  inOrder(rest: string): string {
    return `(SELECT * FROM ${this.#table.quoted}${rest}) AS walked`;
  }

  /** OFFSET keeps the planner from reading the rows in the order of the statement around it. */
  apart(where: string): string {
    return `(SELECT * FROM ${this.#table.quoted}${where} OFFSET 0) AS apart`;
  }
}

function countSql(terms: readonly string[]): string {
  return `count(*) FILTER (WHERE ${terms.join(" AND ")})`;
}

/** Writes the conditions that a row has what is looked up. */
function termsOf(lookup: Lookup, sql: PostgresDialect): readonly string[] {
  if (lookup.kind === "words") return sql.hasWords(lookup.words);
  if (lookup.kind === "conditions") return lookup.filters.map((each) => filterSql(each, sql));
  return [sql.contains(lookup.path, lookup.values)];
}

/** Writes the same conditions in the form that an index serves. */
function indexedTermsOf(lookup: Lookup, sql: PostgresDialect): readonly string[] {
  if (lookup.kind === "words") return sql.search(lookup.words);
  if (lookup.kind === "conditions") return termsOf(lookup, sql);
  return [sql.hasMember(lookup.path, lookup.values)];
}
