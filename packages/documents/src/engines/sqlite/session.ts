import { DocumentsError } from "../../api/errors.ts";
import type { Stamps } from "../../document/stamps.ts";
import type { Budget } from "./budget.ts";
import type { Connection } from "./connection.ts";
import { REGISTRY } from "./layout.ts";
import { prepareCollection } from "./schema.ts";
import { isEngineFailure } from "./sqlite-error.ts";
import type { Table } from "./table.ts";

/** What reading needs. */
export interface Reader {
  readonly connection: Connection;
  /** Ends reads that take too long, where another thread can go on with them. */
  readonly budget?: Budget | undefined;
  /** Documents that were added and not yet counted in the registry. */
  uncounted(table: Table): number;
}

/** One open transaction of the writing connection. */
export class Session implements Reader {
  readonly connection: Connection;
  readonly stamps: Stamps;
  /** Whether the feed of changes got records. */
  hasRecorded = false;
  /** The collections that were prepared before, and in other sessions meanwhile. */
  readonly #ready: Set<Table>;
  readonly #onRecorded: () => void;
  readonly #prepared = new Set<Table>();
  readonly #counts = new Map<Table, number>();
  #failure: DocumentsError | undefined;
  #open = true;

  constructor(
    connection: Connection,
    context: {
      readonly stamps: Stamps;
      readonly ready: Set<Table>;
      /** Is called when a commit brought records into the feed of changes. */
      readonly onRecorded: () => void;
    },
  ) {
    this.connection = connection;
    this.stamps = context.stamps;
    this.#ready = context.ready;
    this.#onRecorded = context.onRecorded;
  }

  /** Whether the session still accepts work. */
  get open(): boolean {
    return this.#open;
  }

  /**
   * Runs work on a collection, which is prepared first, or on the store's own tables. Work that
   * throws may be half done.
   */
  run<R>(table: Table | undefined, work: (session: Session) => R): R {
    if (!this.#open) {
      throw new DocumentsError("ERR_DOCUMENTS_TRANSACTION", "The transaction is over");
    }
    if (this.#failure !== undefined) throw this.#failure;
    try {
      if (table !== undefined && !this.#ready.has(table) && !this.#prepared.has(table)) {
        this.atomically(() => {
          prepareCollection(this.connection, table);
        });
        this.#prepared.add(table);
      }
      return work(this);
    } catch (error) {
      // SQLite may have rolled back by itself; another statement would then commit on its own.
      if (isEngineFailure(error)) this.#failure = error;
      throw error;
    }
  }

  /** Runs work of several statements, of which none takes effect when it throws. */
  atomically<R>(work: () => R): R {
    this.connection.exec("SAVEPOINT work");
    try {
      const result = work();
      this.connection.exec("RELEASE work");
      return result;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.exec("ROLLBACK TO work; RELEASE work");
      throw error;
    }
  }

  /** Counts documents that were added, or removed; called last, when nothing can fail any more. */
  addCount(table: Table, added: number): void {
    this.#counts.set(table, this.uncounted(table) + added);
  }

  uncounted(table: Table): number {
    return this.#counts.get(table) ?? 0;
  }

  /** Makes everything durable. */
  commit(): void {
    this.#open = false;
    if (this.#failure !== undefined) throw this.#failure;
    for (const [table, added] of this.#counts) {
      if (added === 0) continue;
      this.connection.run(`UPDATE ${REGISTRY} SET documents = documents + ? WHERE name = ?`, [
        added,
        table.definition.name,
      ]);
    }
    this.connection.exec("COMMIT");
    for (const table of this.#prepared) this.#ready.add(table);
    if (this.hasRecorded) this.#onRecorded();
  }

  /** Undoes everything, and gives the reason to reject with. */
  rollback(reason: unknown): unknown {
    this.#open = false;
    try {
      this.connection.rollback();
      return reason;
    } catch (error) {
      return new DocumentsError("ERR_DOCUMENTS_ENGINE", "SQLite failed to roll back", {
        cause: new AggregateError([reason, error], "Two failures"),
      });
    }
  }
}
