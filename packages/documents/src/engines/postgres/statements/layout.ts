import type { CollectionDefinition } from "../../../api/definition.ts";
import type { Stored } from "../../../api/document.ts";
import { UniqueError } from "../../../api/errors.ts";
import type { Stamps } from "../../../document/stamps.ts";
import type { SortValue } from "../../../query/keyset.ts";
import type { OrderTerm } from "../../../query/parse-query.ts";
import {
  type Claiming,
  type Condition,
  type Held,
  type Layout,
  type Merging,
  type NewRow,
  type Recording,
  type RowChange,
  Table,
} from "../../layout.ts";
import type { Operation, Result, Row, Statement } from "../../operation.ts";
import { versionTerms } from "../../operations/change.ts";
import { whereSql } from "../../operations/where.ts";
import { changesTable } from "../../own-tables.ts";
import type { Summarizing } from "../../summarizing.ts";
import { toDocumentsError } from "../connections/postgres-error.ts";
import { columnsToAdd, derivedSets } from "./added-columns.ts";
import type { Change, UniqueChange } from "./change.ts";
import { documentColumns } from "./columns.ts";
import { asPostgresDialect, PostgresDialect, PreparedStatements } from "./dialect.ts";
import { PostgresGeo } from "./geo.ts";
import { indexesOf, indexName, type PostgresIndex, readIndexes } from "./indexes.ts";
import { quoteText } from "./keys.ts";
import { claimRows, isHeldSql, releaseLease, renewLease } from "./leases.ts";
import { listSql, valuesSql } from "./row-values.ts";
import { PostgresSearchTexts } from "./search-texts.ts";
import { PostgresSearching } from "./searching.ts";
import { readSortValues } from "./sort-values.ts";
import { postgresSummarizing } from "./summarizing.ts";
import { readTotal } from "./totals-table.ts";

/** Documents of a collection in PostgreSQL: one table, with columns derived from a document. */
export class PostgresLayout extends Table implements Layout {
  readonly search: PostgresSearchTexts;
  readonly stamps: Stamps;
  readonly columns: string = documentColumns;
  readonly selectRows: string;
  readonly key = "id";
  readonly comparesRows = true;
  readonly rowLock = " FOR UPDATE";
  readonly hasRemoved = true;
  readonly searching: PostgresSearching;
  readonly geo: PostgresGeo;
  readonly summarizing: Summarizing = postgresSummarizing;
  readonly indexes: readonly PostgresIndex[];
  /** Whether the server keeps statistics of the fields of indexes. */
  readonly keepsStatistics: boolean;
  /** Whether triggers keep the number of documents. */
  readonly keepsTotal: boolean;
  /** Name of the constraint that keeps ids unique. */
  readonly idConstraint: string;
  readonly statements: PreparedStatements = new PreparedStatements();
  readonly #fieldsOfConstraint: ReadonlyMap<string, readonly string[]>;

  constructor(
    definition: CollectionDefinition<unknown>,
    stamps: Stamps,
    { isUnique = true }: { readonly isUnique?: boolean } = {},
  ) {
    const { name } = definition;
    super(definition);
    this.search = new PostgresSearchTexts(this);
    this.stamps = stamps;
    this.selectRows = `SELECT json_build_array(${this.columns}, expires_at) FROM ${this.quoted} WHERE `;
    this.keepsStatistics = isUnique;
    this.keepsTotal = isUnique && definition.keepTotal === true;
    this.searching = new PostgresSearching(this, { isSampled: isUnique });
    this.geo = new PostgresGeo(this);
    this.idConstraint = indexName(name, "id", []);
    this.indexes = indexesOf(definition, { isUnique });
    const uniques = this.indexes.filter((index) => index.isUnique);
    this.#fieldsOfConstraint = new Map([
      [this.idConstraint, ["id"]],
      ...uniques.map((index) => [index.name, index.fields] as const),
    ]);
  }

  /** The fields of a unique index or constraint; none when only another definition names them. */
  fieldsOfConstraint(constraint: string): readonly string[] | undefined {
    const fields = this.#fieldsOfConstraint.get(constraint);
    if (fields !== undefined) return fields;
    // The fields of an index that only another definition names are there as a hash.
    return constraint.startsWith(`${this.definition.name}:unique:`) ? [] : undefined;
  }

  /**
   * A row is one JSON text, which is parsed as a whole. The rows are chosen before it is written,
   * because before a sort the server would write the texts of all.
   */
  packed(select: string): string {
    return `SELECT json_build_array(${this.columns}) FROM (${select}) AS page`;
  }

  begin(): PostgresDialect {
    return new PostgresDialect(this);
  }

  readById(id: string): Statement {
    const sql = this.begin();
    return sql.read(`${this.selectRows}id = ${sql.bind(id, "text")}`, "fixed");
  }

  isTaken(error: unknown): boolean {
    return toDocumentsError(error, this) instanceof UniqueError;
  }

  *insert(rows: readonly NewRow[], recording: Recording | undefined): Operation<void> {
    const sql = this.begin();
    const columns = columnsToAdd(this, rows, { isNew: recording !== undefined });
    const names = columns.map(({ name }) => name).join(", ");
    const values = rows.length === 1 ? valuesSql(columns, sql) : listSql(columns, sql);
    const text = `INSERT INTO ${this.quoted} (${names}) ${values}`;
    yield* this.change({ sql, text, use: "fixed", recording }, { added: rows });
  }

  *update(change: RowChange, recording: Recording): Operation<number> {
    const { key, before, after, text, lease } = change;
    const isRestored = recording.kind === "restore";
    const sql = this.begin();
    const sets = [
      `version = ${sql.bind(after.version, "bigint")}`,
      "deleted_at = NULL",
      `updated_at = ${sql.bind(after.updatedAt, "text")}`,
      `doc = ${sql.bind(text, "jsonb")}`,
      ...derivedSets(this, after, sql),
    ];
    const terms = [
      `id = ${sql.bind(key, "text")}`,
      ...versionTerms({ version: after.version - 1, createdAt: after.createdAt }, sql),
      `deleted_at IS ${isRestored ? "NOT " : ""}NULL`,
    ];
    if (lease !== undefined) terms.push(this.isHeld(lease, sql));
    const statement = `UPDATE ${this.quoted} SET ${sets.join(", ")}${whereSql(terms)}`;
    const { count } = yield* this.change(
      { sql, text: statement, use: "fixed", recording },
      { changed: { before: isRestored ? undefined : before(), after } },
    );
    return count;
  }

  *markRemoved(condition: Condition, recording: Recording): Operation<number> {
    const sql = asPostgresDialect(condition.sql);
    const now = sql.bind(recording.at, "text");
    const text =
      `UPDATE ${this.quoted} SET version = version + 1, updated_at = greatest(updated_at, ${now}), ` +
      `deleted_at = ${now}${this.search.keeping()}${whereSql(condition.terms)}`;
    const { use = "once" } = condition;
    const { count } = yield* this.change({ sql, text, use, recording }, { isRemoval: true });
    return count;
  }

  *remove(condition: Condition, recording: Recording): Operation<number> {
    const sql = asPostgresDialect(condition.sql);
    const text = `DELETE FROM ${this.quoted}${whereSql(condition.terms)}`;
    const { use = "once" } = condition;
    const { count } = yield* this.change({ sql, text, use, recording }, { isRemoval: true });
    return count;
  }

  merge(merging: Merging): Operation<Result> | undefined {
    const { id, ifVersion, lease, text, names, removed, at, maxBytes } = merging;
    if (this.#isDerivedFrom([...names, ...removed])) return undefined;
    const sql = this.begin();
    const doc = `(doc || ${sql.bind(text, "jsonb")}) - ${sql.bind(removed, "text[]")}`;
    const terms = [
      `id = ${sql.bind(id, "text")}`,
      "deleted_at IS NULL",
      `octet_length(doc::text) < ${maxBytes}`,
    ];
    terms.push(...versionTerms(ifVersion, sql));
    if (lease !== undefined) terms.push(this.isHeld(lease, sql));
    const statement =
      `UPDATE ${this.quoted} SET version = version + 1, updated_at = greatest(updated_at, ${sql.bind(at, "text")}), ` +
      `doc = ${doc}${this.search.keeping()}${whereSql(terms)}`;
    const recording = { kind: "update", at } as const;
    const change = { sql, text: statement, use: "fixed", recording } as const;
    return this.change({ ...change, returning: documentColumns }, {});
  }

  /** Whether anything that a program derives of a document depends on the fields. */
  #isDerivedFrom(names: readonly string[]): boolean {
    const touched = new Set(names);
    const isSearched = this.search.paths.some(({ segments: [head = ""], meta }) =>
      meta === undefined ? touched.has(head) : meta !== "id" && meta !== "createdAt",
    );
    const isPlace = this.geoPaths.some(({ segments: [head = ""] }) => touched.has(head));
    return isSearched || isPlace || this.expiresAt !== undefined;
  }

  readTotal(): Statement | undefined {
    return this.keepsTotal ? readTotal(this.definition.name, this.begin()) : undefined;
  }

  claim(claiming: Claiming): Operation<readonly Row[]> {
    return claimRows(this, claiming);
  }

  renew(held: Held, until: number): Operation<boolean> {
    return renewLease(this, held, until);
  }

  release(held: Held): Operation<boolean> {
    return releaseLease(this, held);
  }

  isHeld(token: string, sql: PostgresDialect): string {
    return isHeldSql(token, sql);
  }

  sortValues(
    stored: Stored<unknown>,
    order: readonly OrderTerm[],
  ): Operation<readonly SortValue[]> {
    return readSortValues(this, stored, order);
  }

  findUnindexed(words: readonly string[]): Operation<readonly Row[number][]> {
    return this.search.findUnindexed(words);
  }

  *generations(): Operation<ReadonlyMap<string, boolean>> {
    const rows = yield* this.search.registered();
    return new Map(rows.map(([derived, , isBuilt]) => [String(derived), isBuilt === "true"]));
  }

  builtIndexes(): Operation<ReadonlyMap<string, boolean>> {
    return readIndexes(this.quoted);
  }

  /** The fields are there as a hash only. */
  fieldsOfIndex(name: string): readonly string[] | undefined {
    if (name === this.idConstraint) return undefined;
    return /:(?:geo|index|members|unique):[0-9a-f]{16}$/.test(name) ? [] : undefined;
  }

  /** The time at which a document expires; null for never. */
  expiryColumn(stored: unknown): number | null {
    return this.expiresAt?.(stored) ?? null;
  }

  /** Makes a change, which also writes to the change feed when the definition asks for it. */
  protected *change(change: Change, _unique: UniqueChange): Operation<Result> {
    const { sql, text, use, recording, returning } = change;
    const recorded = this.#recordedSql(recording, sql);
    if (recorded === undefined) {
      const back = returning === undefined ? "" : ` RETURNING ${returning}`;
      return yield sql.write(text + back, use);
    }
    const parts = `changed AS (${text} RETURNING ${documentColumns}), recorded AS (${recorded})`;
    return yield sql.write(`WITH ${parts} SELECT ${returning ?? "id"} FROM changed`, use);
  }

  /** Writes the statement that writes what changed to the change feed; undefined for nothing. */
  #recordedSql(recording: Recording | undefined, sql: PostgresDialect): string | undefined {
    const { changes, name } = this.definition;
    if (changes === undefined || recording === undefined) return undefined;
    const { kind, at } = recording;
    const doc = this.isRecordedWhole(recording) ? "doc" : "NULL::jsonb";
    return (
      `INSERT INTO ${changesTable} (collection, id, kind, version, at, doc) ` +
      `SELECT ${quoteText(name)}, id, ${quoteText(kind)}, version, ${sql.bind(at, "text")}, ${doc} FROM changed`
    );
  }

  /** Whether the document itself is written to the change feed. */
  protected isRecordedWhole({ kind }: Recording): boolean {
    const isKept = kind !== "purge" && (kind !== "remove" || this.softDelete);
    return this.definition.changes === "documents" && isKept;
  }
}
