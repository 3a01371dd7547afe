import type { Collection, InsertOptions, WriteOptions } from "../collection.ts";
import type { Change, Projected, Stored } from "../document.ts";
import { parseFilter } from "../filter.ts";
import { parseJsonText, toJsonText } from "../json-text.ts";
import { type FindQuery, parseQuery, parseSelection, type Selection } from "../query.ts";
import {
  checkId,
  checkNewId,
  merge,
  type NewDocument,
  parseTarget,
  type Target,
  withoutMeta,
} from "../change-input.ts";
import type { Where } from "../where.ts";
import { count, find, readMany, readOne } from "./reading.ts";
import type { Reader, Session } from "./session.ts";
import type { Table } from "./table.ts";
import { changeOne, insertOne, removeMatching, removeOne } from "./writing.ts";

/** The way to the tables: through the store, or through a transaction. */
export interface Access {
  read<R>(table: Table, work: (reader: Reader) => R): Promise<R>;
  write<R>(table: Table, work: (session: Session) => R): Promise<R>;
}

/** A collection in SQLite. Everything is checked and copied before a change waits for its turn. */
export class SqliteCollection<T> implements Collection<T> {
  readonly name: string;
  readonly #access: Access;
  readonly #table: Table;

  constructor(access: Access, table: Table) {
    this.name = table.definition.name;
    this.#access = access;
    this.#table = table;
  }

  async insert(document: T, options: InsertOptions = {}): Promise<Stored<T>> {
    const { id } = options;
    if (id !== undefined) checkNewId(id);
    const added: NewDocument = { id, text: toJsonText(document) };
    return this.#access.write(this.#table, (session) => {
      const stored = insertOne<T>(session, this.#table, added);
      session.addCount(this.#table, 1);
      return stored;
    });
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const added = documents.map((document): NewDocument => {
      return { id: undefined, text: toJsonText(document) };
    });
    return this.#access.write(this.#table, (session) => {
      const stored = session.atomically(() =>
        added.map((document) => insertOne<T>(session, this.#table, document)),
      );
      session.addCount(this.#table, added.length);
      return stored;
    });
  }

  get(id: string): Promise<Stored<T> | undefined> {
    return this.#access.read(this.#table, (reader) => readOne<T>(reader, this.#table, checkId(id)));
  }

  getMany(ids: readonly string[]): Promise<readonly (Stored<T> | undefined)[]> {
    return this.#access.read(this.#table, (reader) =>
      readMany<T>(reader, this.#table, ids.map(checkId)),
    );
  }

  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;
  find(query: FindQuery<T> = {}): Promise<readonly (Projected<T> | Stored<T>)[]> {
    return this.#access.read(this.#table, (reader) =>
      find<T>(reader, this.#table, parseQuery(query)),
    );
  }

  count(selection: Selection<T> = {}): Promise<number> {
    return this.#access.read(this.#table, (reader) =>
      count(reader, this.#table, parseSelection(selection)),
    );
  }

  async update(
    id: string,
    change: Change<T> | ((stored: Stored<T>) => T),
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    if (typeof change === "function") {
      return this.#change(target, (stored) => {
        const { id: own, version, createdAt, updatedAt } = stored;
        return withoutMeta(change(stored), { id: own, version, createdAt, updatedAt });
      });
    }
    const text = toJsonText(change);
    const removed = Object.entries(change).flatMap(([name, value]) =>
      value === undefined ? [name] : [],
    );
    const fields = parseJsonText(text);
    return this.#change(target, (stored) => merge(stored, { fields, removed }));
  }

  async replace(
    id: string,
    document: T,
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    const text = toJsonText(document);
    return this.#change(target, () => parseJsonText(text));
  }

  async remove(id: string, options: WriteOptions = {}): Promise<boolean> {
    const target = parseTarget(id, options);
    return this.#access.write(this.#table, (session) => removeOne(session, this.#table, target));
  }

  async removeMany(selection: { readonly where: Where<T> }): Promise<number> {
    const filter = parseFilter(selection.where);
    return this.#access.write(this.#table, (session) =>
      removeMatching(session, this.#table, filter),
    );
  }

  #change(target: Target, change: (stored: Stored<T>) => unknown): Promise<Stored<T> | undefined> {
    return this.#access.write(this.#table, (session) =>
      changeOne<T>(session, this.#table, target, change),
    );
  }
}
