import type { CollectionDefinition } from "../../../api/definition.ts";
import { UniqueError } from "../../../api/errors.ts";
import type { Stamps } from "../../../document/stamps.ts";
import { quoteName } from "../../dialect.ts";
import {
  type Claiming,
  type Condition,
  type Held,
  type Layout,
  type NewRow,
  type Recording,
  type RowChange,
  Table,
} from "../../layout.ts";
import { atomically, type Operation, type Row, type Statement } from "../../operation.ts";
import { whereSql } from "../../operations/where.ts";
import { generationsTable } from "../../own-tables.ts";
import type { Timing } from "../connection/budget.ts";
import { checkedColumns, documentChecksum, removedRow } from "./checksums.ts";
import { SqliteDialect } from "./dialect.ts";
import { SqliteGeo } from "./geo.ts";
import { fieldsOfIndex, indexesOf, type SqliteIndex } from "./indexes.ts";
import { KeptMembers } from "./kept-members.ts";
import { claimRows, isHeldSql, releaseLease, renewLease } from "./leases.ts";
import { keysWhere, recordChange, recordRemoved } from "./recording.ts";
import { SqliteSearchTexts } from "./search-texts.ts";
import { leasesTable } from "./tables.ts";
import { SqliteSearching } from "./searching.ts";
import { sqliteSummarizing } from "./summarizing.ts";

/**
 * Documents of a collection in SQLite: a table of documents whose rows have numbers. Tables for
 * search texts, members of lists, places and leases are changed with it.
 */
export class SqliteLayout extends Table implements Layout {
  readonly stamps: Stamps;
  readonly search: SqliteSearchTexts;
  readonly members: KeptMembers;
  readonly columns: string;
  readonly selectRows: string;
  readonly key = "seq";
  /** No index of expressions does. */
  readonly comparesRows = false;
  readonly rowLock = "";
  readonly hasRemoved: boolean;
  readonly searching: SqliteSearching;
  readonly geo: SqliteGeo;
  readonly summarizing: typeof sqliteSummarizing = sqliteSummarizing;
  readonly indexes: readonly SqliteIndex[];
  readonly #timing: Timing;
  readonly #insertText: string;
  readonly #readByIdText: string;
  readonly #readCheckedText: string;
  readonly #markRemovedText: string;

  /** `timing` says whether the time of what is written is limited. Default: it never is. */
  constructor(
    definition: CollectionDefinition<unknown>,
    stamps: Stamps,
    timing: Timing = { isTimed: false },
  ) {
    super(definition);
    this.stamps = stamps;
    this.#timing = timing;
    this.search = new SqliteSearchTexts(this);
    this.members = new KeptMembers(this);
    this.hasRemoved = this.softDelete;
    this.columns = `id, version, created_at, updated_at, doc, ${this.softDelete ? "deleted_at" : "NULL"}`;
    const expiresColumn = this.expiresAt === undefined ? "NULL" : "expires_at";
    this.selectRows = `SELECT ${this.columns}, ${expiresColumn} FROM ${this.quoted} WHERE `;
    this.#readByIdText = `${this.selectRows}id = ?`;
    this.#readCheckedText = `SELECT ${checkedColumns(this)} FROM ${this.quoted} WHERE seq = ?`;
    this.#markRemovedText =
      `UPDATE ${this.quoted} SET version = version + 1, updated_at = ?, deleted_at = ?, ` +
      `checksum = ? WHERE seq = ?`;
    this.searching = new SqliteSearching(this);
    this.geo = new SqliteGeo(this);
    this.indexes = indexesOf(this);
    const columns = ["id", "version", "created_at", "updated_at", "doc", "checksum"];
    if (this.softDelete) columns.push("deleted_at");
    if (this.expiresAt !== undefined) columns.push("expires_at");
    this.#insertText =
      `INSERT INTO ${this.quoted} (${columns.join(", ")}) ` +
      `VALUES (${columns.map(() => "?").join(", ")})`;
  }

  /** Name of the table of search texts, quoted. */
  get quotedSearch(): string {
    return quoteName(this.search.table);
  }

  begin({ isShort = false }: { readonly isShort?: boolean } = {}): SqliteDialect {
    return new SqliteDialect(this, this.#timing.isTimed && !isShort);
  }

  readById(id: string): Statement {
    return { kind: "read", text: this.#readByIdText, values: [id] };
  }

  isTaken(error: unknown): boolean {
    return error instanceof UniqueError;
  }

  *insert(rows: readonly NewRow[], recording: Recording | undefined): Operation<void> {
    const [first] = rows;
    if (first !== undefined && rows.length === 1) yield* this.#insertRow(first, recording);
    else yield* atomically(() => this.#insertRows(rows, recording));
  }

  *update(change: RowChange, { kind, at }: Recording): Operation<number> {
    const { after, text } = change;
    const { id, version, createdAt } = after;
    const sets = ["version = ?", "updated_at = ?", "doc = ?", "checksum = ?"];
    const checksum = documentChecksum(
      { id, version, createdAt, updatedAt: at, deletedAt: null },
      text,
    );
    const values: (number | string | null)[] = [version, at, text, checksum];
    if (kind === "restore") sets.push("deleted_at = NULL");
    if (this.expiresAt !== undefined) {
      sets.push("expires_at = ?");
      values.push(this.expiresAt(after));
    }
    // Nobody else writes while an operation runs, so the row is still the one that was read.
    const { count } = yield {
      kind: "write",
      text: `UPDATE ${this.quoted} SET ${sets.join(", ")} WHERE seq = ?`,
      values: [...values, change.key],
    };
    const isDerived = this.search.isDerived || this.members.isKept || this.geoPaths.length > 0;
    if (isDerived) yield* this.#derive(change);
    yield* recordChange(this.definition, { kind, at, id, version, text });
    return count;
  }

  /** Brings the tables of search texts, members and places up to a change. */
  *#derive({ key, before, after }: RowChange): Operation<void> {
    const seq = Number(key);
    const earlier = before();
    yield* this.search.replace(seq, earlier, after);
    yield* this.members.replace(seq, earlier, after);
    yield* this.geo.replace(seq, earlier, after);
  }

  *markRemoved(condition: Condition, recording: Recording): Operation<number> {
    const keys = yield* keysWhere(this, condition);
    for (const seq of keys) {
      const { rows } = yield { kind: "read", text: this.#readCheckedText, values: [seq] };
      const { id, version, updatedAt, text, checksum } = removedRow(rows[0] ?? [], recording.at);
      const values = [updatedAt, recording.at, checksum, seq];
      yield { kind: "write", text: this.#markRemovedText, values };
      yield* recordChange(this.definition, { ...recording, id, version, text });
    }
    return keys.length;
  }

  *remove(condition: Condition, { kind, at }: Recording): Operation<number> {
    const { values } = condition.sql;
    const where = whereSql(condition.terms);
    const rows = `SELECT seq FROM ${this.quoted}${where}`;
    yield* recordRemoved(this, condition, { kind, at });
    for (const text of [...this.search.removals(rows), ...this.members.removals(rows)]) {
      yield { kind: "write", text, values };
    }
    if (this.geoPaths.length > 0) yield { kind: "write", text: this.geo.removal(rows), values };
    const { count } = yield {
      kind: "write",
      text: `DELETE FROM ${this.quoted}${where}`,
      values,
    };
    // After the documents, whose condition may be that a lease is held. There are few leases, and
    // each looks for its document.
    yield {
      kind: "write",
      text:
        `DELETE FROM ${leasesTable} AS held WHERE collection = ? AND NOT EXISTS ` +
        `(SELECT 1 FROM ${this.quoted} AS kept WHERE kept.id = held.id)`,
      values: [this.definition.name],
    };
    return count;
  }

  claim(claiming: Claiming): Operation<readonly Row[]> {
    return atomically(() => claimRows(this, claiming));
  }

  renew(held: Held, until: number): Operation<boolean> {
    return renewLease(this, held, until);
  }

  release(held: Held): Operation<boolean> {
    return releaseLease(this, held);
  }

  isHeld(token: string, sql: SqliteDialect): string {
    return isHeldSql(this, token, sql);
  }

  findUnindexed(words: readonly string[]): Operation<readonly Row[number][]> {
    return this.search.findUnindexed(words);
  }

  *generations(): Operation<ReadonlyMap<string, boolean>> {
    const { rows } = yield {
      kind: "read",
      text: `SELECT derived, done >= goal FROM ${generationsTable} WHERE collection = ? ORDER BY derived`,
      values: [this.definition.name],
    };
    return new Map(rows.map(([derived, isBuilt]) => [String(derived), isBuilt === 1]));
  }

  *builtIndexes(): Operation<ReadonlyMap<string, boolean>> {
    const { rows } = yield {
      kind: "read",
      text: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ?",
      values: [this.definition.name],
    };
    return new Map(rows.map(([name]) => [String(name), true]));
  }

  fieldsOfIndex(name: string): readonly string[] | undefined {
    return fieldsOfIndex(name);
  }

  *#insertRows(rows: readonly NewRow[], recording: Recording | undefined): Operation<void> {
    for (const row of rows) yield* this.#insertRow(row, recording);
  }

  *#insertRow(row: NewRow, recording: Recording | undefined): Operation<void> {
    const { id, version, createdAt, updatedAt, deletedAt, text, stored } = row;
    const removed = this.softDelete ? deletedAt : null;
    const checksum = documentChecksum(
      { id, version, createdAt, updatedAt, deletedAt: removed },
      text,
    );
    const values = [id, version, createdAt, updatedAt, text, checksum];
    const extra: (number | string | null)[] = [];
    if (this.softDelete) extra.push(deletedAt);
    if (this.expiresAt !== undefined) extra.push(this.expiresAt(stored));
    const { rowId } = yield {
      kind: "insert",
      text: this.#insertText,
      values: extra.length === 0 ? values : [...values, ...extra],
    };
    const seq = Number(rowId);
    if (this.search.isDerived) yield* this.search.add(seq, stored);
    if (this.members.isKept) yield* this.members.add(seq, stored);
    if (this.geoPaths.length > 0) yield* this.geo.add(seq, stored);
    if (recording !== undefined) {
      yield* recordChange(this.definition, { ...recording, id, version, text });
    }
  }
}
