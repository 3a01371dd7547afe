import { DocumentsError } from "../../../api/errors.ts";
import type { Row } from "../../operation.ts";
import { toDocumentsError } from "./sqlite-error.ts";

/** A value bound to a statement, or read from a column. */
export type Cell = number | string | null;

/** A prepared statement of a {@link SqliteDatabase}. */
export interface SqliteStatement {
  get(...values: Cell[]): unknown;
  all(...values: Cell[]): readonly unknown[];
  run(...values: Cell[]): {
    readonly changes: bigint | number;
    readonly lastInsertRowid: bigint | number;
  };
  setReturnArrays(enabled: boolean): void;
}

/** The part of `DatabaseSync` of `node:sqlite`, or a similar driver, that a connection needs. */
export interface SqliteDatabase {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
  /** Only needed where slow reads go on in other threads. */
  function?(
    name: string,
    options: { readonly directOnly: boolean; readonly varargs: boolean },
    implementation: () => number,
  ): void;
}

const maxStatements = 128;

/** Runs statements on one connection; each text is prepared once and kept while it is in use. */
export class Connection {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Reads the first row. */
  get(sql: string, parameters: readonly Cell[]): Row | undefined {
    try {
      const row: unknown = this.#prepare(sql).get(...parameters);
      if (row === undefined || isRow(row)) return row;
      throw notRows();
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Reads every row. */
  all(sql: string, parameters: readonly Cell[]): readonly Row[] {
    try {
      const rows: readonly unknown[] = this.#prepare(sql).all(...parameters);
      if (areRows(rows)) return rows;
      throw notRows();
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Runs a change, and returns the number of rows it changed. */
  run(sql: string, parameters: readonly Cell[]): number {
    try {
      return Number(this.#prepare(sql).run(...parameters).changes);
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /**
   * Adds a row, and returns its `rowid`. RETURNING would make a savepoint of the statement. There
   * FTS5 writes all that it has gathered since the last one.
   */
  insert(sql: string, parameters: readonly Cell[]): number {
    try {
      return Number(this.#prepare(sql).run(...parameters).lastInsertRowid);
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Runs statements that take no values. */
  exec(sql: string): void {
    try {
      this.#database.exec(sql);
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Lends the connection itself. */
  use<R>(work: (database: SqliteDatabase) => R): R {
    try {
      return work(this.#database);
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Rolls back when a transaction is open; SQLite itself already did after some failures. */
  rollback(): void {
    if (this.inTransaction) this.exec("ROLLBACK");
  }

  /** Reads at one moment, whatever others commit. */
  atOneMoment<R>(work: () => R): R {
    this.exec("BEGIN");
    try {
      return work();
    } finally {
      this.rollback();
    }
  }

  /** Closes the connection. */
  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    statement.setReturnArrays(true);
    // The oldest goes first. One in constant use comes back at the price of one preparation.
    const [oldest] = this.#statements.size < maxStatements ? [] : this.#statements.keys();
    if (oldest !== undefined) this.#statements.delete(oldest);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Looks at the first row only: a statement returns all of them in one form. */
function areRows(rows: readonly unknown[]): rows is readonly Row[] {
  return rows.length === 0 || isRow(rows[0]);
}

function notRows(): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_ENGINE", "SQLite returned rows that are not arrays");
}

function isRow(row: unknown): row is Row {
  return Array.isArray(row);
}
