import type { Stored } from "../../api/document.ts";
import type { NewDocument } from "../../query/targets.ts";
import { Gathering, type Waiting } from "./gathering.ts";
import { isConnectionLoss, isReadOnly, sqlState } from "./postgres-error.ts";
import { readRows } from "./reading.ts";
import type { Row } from "./row-query.ts";
import { toStored } from "./row.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";
import { insertOne } from "./upserting.ts";
import { insertAll } from "./writing.ts";

const MOST_GETS = 100;
/** A document counts as much as this many characters besides its own. */
const DOCUMENT_SIZE = 8192;
const MOST_INSERTED = 100 * DOCUMENT_SIZE;
/** After these many milliseconds nobody waits for the unique field of somebody else any longer. */
const PATIENCE = 100;

/**
 * Reads and adds with one statement what is asked for in one turn of the event loop: a round trip
 * and a wait for the disk are what a document costs most. Each still succeeds or fails alone.
 */
export class Joining {
  readonly #session: Session;
  readonly #gets = new WeakMap<Table, Gathering<string, Row | undefined>>();
  readonly #inserts = new WeakMap<Table, Gathering<NewDocument, Stored<unknown>>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Reads a document. */
  async get<T>(table: Table, id: string): Promise<Stored<T> | undefined> {
    let gets = this.#gets.get(table);
    if (gets === undefined) {
      gets = new Gathering((waiting) => void this.#read(table, waiting), {
        sizeOf: () => 1,
        most: MOST_GETS,
      });
      this.#gets.set(table, gets);
    }
    const row = await gets.add(id);
    return row === undefined ? undefined : toStored<T>(table, row);
  }

  /** Adds a document. */
  insert<T>(table: Table, document: NewDocument): Promise<Stored<T>> {
    // The claims of a distributed store take several statements, which are not for many at a time.
    if (table.isDistributed) return insertOne<T>(this.#session, table, document);
    let inserts = this.#inserts.get(table);
    if (inserts === undefined) {
      inserts = new Gathering((waiting) => void this.#add(table, waiting), {
        sizeOf: ({ text }) => text.length + DOCUMENT_SIZE,
        most: MOST_INSERTED,
      });
      this.#inserts.set(table, inserts);
    }
    // The definition names T for whatever was accepted into this collection.
    return inserts.add(document) as Promise<Stored<T>>;
  }

  async #read(table: Table, waiting: readonly Waiting<string, Row | undefined>[]): Promise<void> {
    try {
      const ids = waiting.map(({ input }) => input);
      const rows = await readRows(this.#session, table, ids);
      for (const [index, { resolve }] of waiting.entries()) resolve(rows[index]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #add(
    table: Table,
    waiting: readonly Waiting<NewDocument, Stored<unknown>>[],
  ): Promise<void> {
    const documents = waiting.map(({ input }) => input);
    try {
      const added = await insertAll<unknown>(this.#session, table, documents, {
        patience: documents.length === 1 ? undefined : PATIENCE,
      });
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const stored = added[index];
        if (stored === undefined) reject(new RangeError("A document was not added"));
        else resolve(stored);
      }
    } catch (error) {
      if (documents.length === 1 || !isUndone(error)) {
        for (const { reject } of waiting) reject(error);
        return;
      }
      for (const { input, resolve, reject } of waiting) {
        insertOne<unknown>(this.#session, table, input).then(resolve, reject);
      }
    }
  }
}

/** Tells whether the server refused all of a statement because of something in it. */
function isUndone(error: unknown): boolean {
  return sqlState(error) !== undefined && !isConnectionLoss(error) && !isReadOnly(error);
}
