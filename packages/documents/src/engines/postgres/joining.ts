import type { Stored } from "../../api/document.ts";
import { toStored } from "../../document/stored.ts";
import type { NewDocument } from "../../query/targets.ts";
import type { Layout } from "../layout.ts";
import type { Row } from "../operation.ts";
import { getRows } from "../operations/get.ts";
import { insertDocument, insertDocuments } from "../operations/insert.ts";
import { isConnectionLoss, isReadOnly, sqlState } from "./connections/postgres-error.ts";
import { type OnAdded, runOperation } from "./connections/run-operation.ts";
import type { Session } from "./connections/session.ts";
import { Gathering, type Waiting } from "./gathering.ts";

const maxGets = 100;
/** A document counts as much as this many characters besides its own. */
const documentSize = 8192;
const maxInsertedSize = 100 * documentSize;
/** Milliseconds after which a joined insert no longer waits for the unique value of another transaction. */
const lockTimeout = 100;

/**
 * Reads and adds with one statement what is asked for in one turn of the event loop: a round trip and a wait for the disk
 * are what a document costs most. Each still succeeds or fails alone.
 */
export class Joining {
  readonly #session: Session;
  readonly #onAdded: OnAdded;
  readonly #gets = new WeakMap<Layout, Gathering<string, Row | undefined>>();
  readonly #inserts = new WeakMap<Layout, Gathering<NewDocument, Stored<unknown>>>();

  constructor(session: Session, onAdded: OnAdded) {
    this.#session = session;
    this.#onAdded = onAdded;
  }

  /** Reads a document. */
  async get<T>(layout: Layout, id: string): Promise<Stored<T> | undefined> {
    let gets = this.#gets.get(layout);
    if (gets === undefined) {
      gets = new Gathering((waiting) => void this.#read(layout, waiting), {
        sizeOf: () => 1,
        maxSize: maxGets,
      });
      this.#gets.set(layout, gets);
    }
    const row = await gets.add(id);
    return row === undefined ? undefined : toStored<T>(layout.definition.name, row);
  }

  /** Adds a document. */
  insert<T>(layout: Layout, document: NewDocument): Promise<Stored<T>> {
    let inserts = this.#inserts.get(layout);
    if (inserts === undefined) {
      inserts = new Gathering((waiting) => void this.#add(layout, waiting), {
        sizeOf: ({ text }) => text.length + documentSize,
        maxSize: maxInsertedSize,
      });
      this.#inserts.set(layout, inserts);
    }
    // The definition names T for whatever was accepted into this collection.
    return inserts.add(document) as Promise<Stored<T>>;
  }

  async #read(layout: Layout, waiting: readonly Waiting<string, Row | undefined>[]): Promise<void> {
    try {
      const ids = waiting.map(({ input }) => input);
      const rows = await runOperation(this.#session, getRows(layout, ids));
      for (const [index, { resolve }] of waiting.entries()) resolve(rows[index]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #add(
    layout: Layout,
    waiting: readonly Waiting<NewDocument, Stored<unknown>>[],
  ): Promise<void> {
    const documents = waiting.map(({ input }) => input);
    const isOne = documents.length === 1;
    try {
      const operation = insertDocuments<unknown>(
        layout,
        documents,
        isOne ? undefined : lockTimeout,
      );
      const added = await runOperation(this.#session, operation, this.#onAdded);
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const stored = added[index];
        if (stored === undefined) reject(new RangeError("a document was not added"));
        else resolve(stored);
      }
    } catch (error) {
      if (isOne || !isUndone(error)) {
        for (const { reject } of waiting) reject(error);
        return;
      }
      for (const { input, resolve, reject } of waiting) {
        const operation = insertDocument<unknown>(layout, input);
        runOperation(this.#session, operation, this.#onAdded).then(resolve, reject);
      }
    }
  }
}

/** Whether the server refused all of a statement because of something in it. */
function isUndone(error: unknown): boolean {
  return sqlState(error) !== undefined && !isConnectionLoss(error) && !isReadOnly(error);
}
