import {
  applyChange,
  checkId,
  checkNewId,
  merge,
  type NewDocument,
  ownFields,
  parseTarget,
  type Target,
} from "../change-input.ts";
import type { Collection, InsertOptions, WriteOptions } from "../collection.ts";
import { readCursor, writeCursor, writeValues } from "../cursor.ts";
import type { Change, Projected, Stored } from "../document.ts";
import { parseFilter } from "../filter.ts";
import { parseJsonText, toJsonText } from "../json-text.ts";
import type { SortValue } from "../keyset.ts";
import { type ClaimQuery, type Lease, parseClaim, parseExpiry } from "../lease.ts";
import type { ParsedNear } from "../near.ts";
import { type Page, type PageQuery, parsePage, type Total } from "../page.ts";
import { projected } from "../projection.ts";
import {
  type CountQuery,
  type FindQuery,
  parseMaximum,
  type ParsedQuery,
  parseQuery,
  parseSelection,
} from "../query.ts";
import { parsePurge, type PurgeSelection, requireSoftDelete } from "../soft-deletion.ts";
import { parseUpsert, type UpsertOptions } from "../upsert.ts";
import type { Where } from "../where.ts";
import { claimMatching, releaseLease, renewLease } from "./leasing.ts";
import { count } from "./counting.ts";
import { findNear } from "./reading-near.ts";
import { find, readMany, readOne } from "./reading.ts";
import type { Reader, Session } from "./session.ts";
import type { Table } from "./table.ts";
import {
  changeOne,
  findByFields,
  insertOne,
  purgeMatching,
  purgeOne,
  removeMatching,
  removeOne,
} from "./writing.ts";

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
    const added: NewDocument = { id, text: this.#toText(document) };
    return this.#access.write(this.#table, (session) => this.#insert(session, added));
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const added = documents.map((document): NewDocument => {
      return { id: undefined, text: this.#toText(document) };
    });
    return this.#access.write(this.#table, (session) => {
      const stored = session.atomically(() =>
        added.map((document) => insertOne<T>(session, this.#table, document)),
      );
      session.addCount(this.#table, added.length);
      return stored;
    });
  }

  async upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>> {
    const text = this.#toText(document);
    const { id, filter } = parseUpsert(this.#table.definition, parseJsonText(text), options);
    if (id !== undefined) checkNewId(id);
    const { change } = options;
    const make = (stored: Stored<T>): unknown =>
      change === undefined ? parseJsonText(text) : applyChange(change, stored);
    return this.#access.write(this.#table, (session) => {
      const found = id ?? findByFields(session, this.#table, filter);
      const target = found === undefined ? undefined : { id: found, ifVersion: undefined };
      const changed =
        target === undefined
          ? undefined
          : (changeOne<T>(session, this.#table, target, { make }) ??
            (this.#table.softDelete
              ? changeOne<T>(session, this.#table, target, {
                  // One that was removed counts as none: its content does not come back.
                  make: () => parseJsonText(text),
                  restores: true,
                })
              : undefined));
      return changed ?? this.#insert(session, { id, text });
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
    return this.#access.read(this.#table, (reader) => {
      const parsed = parseQuery(query);
      return this.#find(reader, parsed).map((stored) => projected(stored, parsed.fields));
    });
  }

  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;
  page(query: PageQuery<T> = {}): Promise<Page<Projected<T> | Stored<T>>> {
    return this.#access.read(this.#table, (reader) => {
      const { parsed, limit, total } = parsePage(query);
      const { near } = parsed;
      if (near !== undefined) return this.#pageNear(reader, { parsed, near, limit, total });
      const found = this.#find(reader, { ...parsed, limit: limit + 1 });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return {
        items: found.slice(0, limit).map((stored) => projected(stored, parsed.fields)),
        next: last === undefined ? undefined : writeCursor(this.name, parsed.order, last),
        total: this.#total(reader, parsed, total),
      };
    });
  }

  count(query: CountQuery<T> = {}): Promise<number> {
    return this.#access.read(this.#table, (reader) => {
      const max = query.max === undefined ? undefined : parseMaximum("max", query.max);
      return count(reader, this.#table, { ...parseSelection(query), max });
    });
  }

  async update(
    id: string,
    change: Change<T> | ((stored: Stored<T>) => T),
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    if (typeof change === "function") {
      return this.#change(target, (stored) => applyChange(change, stored));
    }
    const text = this.#toText(change);
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
    const text = this.#toText(document);
    return this.#change(target, () => parseJsonText(text));
  }

  async remove(id: string, options: WriteOptions = {}): Promise<boolean> {
    const target = parseTarget(id, options);
    return this.#access.write(this.#table, (session) => removeOne(session, this.#table, target));
  }

  async removeMany(selection: { readonly where: Where<T> }): Promise<number> {
    const filter = parseFilter(selection.where);
    return this.#access.write(this.#table, (session) =>
      session.atomically(() => removeMatching(session, this.#table, filter)),
    );
  }

  async restore(id: string): Promise<Stored<T> | undefined> {
    requireSoftDelete(this.#table.definition);
    const target = parseTarget(id, {});
    return this.#access.write(this.#table, (session) =>
      changeOne<T>(session, this.#table, target, { make: ownFields, restores: true }),
    );
  }

  async purge(id: string): Promise<boolean> {
    requireSoftDelete(this.#table.definition);
    checkId(id);
    return this.#access.write(this.#table, (session) => purgeOne(session, this.#table, id));
  }

  async purgeMany(selection: PurgeSelection<T> = {}): Promise<number> {
    requireSoftDelete(this.#table.definition);
    const parsed = parsePurge(selection);
    return this.#access.write(this.#table, (session) =>
      session.atomically(() => purgeMatching(session, this.#table, parsed)),
    );
  }

  async claim(query: ClaimQuery<T> = {}): Promise<readonly Lease<T>[]> {
    const parsed = parseClaim(query);
    return this.#access.write(this.#table, (session) =>
      session.atomically(() => claimMatching<T>(session, this.#table, parsed)),
    );
  }

  async renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token, expiry: parseExpiry(expiry) };
    return this.#access.write(this.#table, (session) => renewLease(session, this.#table, held));
  }

  async release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token };
    return this.#access.write(this.#table, (session) => releaseLease(session, this.#table, held));
  }

  #find(reader: Reader, query: ParsedQuery): readonly Stored<T>[] {
    const { near } = query;
    const after = this.#after(query);
    if (near === undefined) return find<T>(reader, this.#table, { query, after });
    return findNear<T>(reader, this.#table, { query, near, after }).map(({ document }) => document);
  }

  #after({ after, order }: ParsedQuery): readonly SortValue[] | undefined {
    return after === undefined ? undefined : readCursor(this.name, order, after);
  }

  #pageNear(
    reader: Reader,
    {
      parsed,
      near,
      limit,
      total,
    }: {
      readonly parsed: ParsedQuery;
      readonly near: ParsedNear;
      readonly limit: number;
      readonly total: number | "exact" | "none";
    },
  ): Page<Projected<T> | Stored<T>> {
    const query = { ...parsed, limit: limit + 1 };
    const found = findNear<T>(reader, this.#table, { query, near, after: this.#after(parsed) });
    const last = found.length > limit ? found[limit - 1] : undefined;
    const values = last === undefined ? undefined : [last.square, last.document.id];
    return {
      items: found.slice(0, limit).map(({ document }) => projected(document, parsed.fields)),
      next: values === undefined ? undefined : writeValues(this.name, parsed.order, values),
      total: this.#total(reader, parsed, total),
    };
  }

  #total(reader: Reader, query: ParsedQuery, total: number | "exact" | "none"): Total | undefined {
    if (total === "none") return undefined;
    if (total === "exact") return { count: count(reader, this.#table, query), exact: true };
    const counted = count(reader, this.#table, { ...query, max: total + 1 });
    return { count: Math.min(counted, total), exact: counted <= total };
  }

  #insert(session: Session, added: NewDocument): Stored<T> {
    const stored = insertOne<T>(session, this.#table, added);
    session.addCount(this.#table, 1);
    return stored;
  }

  #toText(document: unknown): string {
    return toJsonText(document, this.#table.reserved);
  }

  #change(target: Target, make: (stored: Stored<T>) => unknown): Promise<Stored<T> | undefined> {
    return this.#access.write(this.#table, (session) =>
      changeOne<T>(session, this.#table, target, { make }),
    );
  }
}
