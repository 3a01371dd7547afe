import type { Collection, InsertOptions, WriteOptions } from "../../api/collection.ts";
import type { Change, Projected, Stored } from "../../api/document.ts";
import type { FieldPath } from "../../api/field-path.ts";
import type { CountQuery, FindQuery } from "../../api/find-query.ts";
import type { ClaimQuery, Lease } from "../../api/lease.ts";
import type { Page, PageQuery, Total } from "../../api/page.ts";
import type { ReadOptions } from "../../api/read-options.ts";
import type { PurgeSelection } from "../../api/soft-deletion.ts";
import type { UpsertOptions } from "../../api/upsert.ts";
import type { Where } from "../../api/where.ts";
import { parseJsonText, toJsonText } from "../../document/json-text.ts";
import { projected } from "../../document/projection.ts";
import type { ParsedNear } from "../../geo/near.ts";
import { readCursor, writeValues } from "../../query/cursor.ts";
import type { SortValue } from "../../query/keyset.ts";
import { parseClaim, parseExpiry } from "../../query/parse-claim.ts";
import { parsePage } from "../../query/parse-page.ts";
import { parsePurge, requireSoftDelete } from "../../query/parse-purge.ts";
import { parseCount, type ParsedQuery, parseQuery } from "../../query/parse-query.ts";
import { parseReadOptions } from "../../query/parse-read-options.ts";
import { parseUpsert } from "../../query/parse-upsert.ts";
import {
  applyChange,
  checkId,
  checkList,
  checkNewId,
  merge,
  type NewDocument,
  ownFields,
  parseInsert,
  parseRemoval,
  parseTarget,
  type Target,
} from "../../query/targets.ts";
import { count } from "./counting.ts";
import type { Joining } from "./joining.ts";
import { claimMatching, releaseLease, renewLease } from "./leasing.ts";
import { findNear } from "./reading-near.ts";
import { find, readMany, readOne, sortValues } from "./reading.ts";
import { purge, removeMatching, removeOne } from "./removing.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";
import { insertOne, upsertOne } from "./upserting.ts";
import { changeOne, insertAll, mergeChange, mergeOne } from "./writing.ts";

/** The way to the tables: through the store, or through a transaction. */
export interface Access {
  /** Reads; the answer may be `staleness` milliseconds old. */
  read<R>(
    table: Table,
    work: (session: Session) => Promise<R>,
    staleness: number | undefined,
  ): Promise<R>;
  write<R>(table: Table, work: (session: Session) => Promise<R>): Promise<R>;
  /** Set where what is asked for at once may be done at once. */
  readonly joining?: Joining | undefined;
  /** Is told of documents that were added, many at a time, for good. */
  noteGrowth?(table: Table, count: number): void;
}

/** A collection in PostgreSQL. Everything is checked and copied before a change is sent. */
export class PostgresCollection<T> implements Collection<T> {
  readonly name: string;
  readonly #access: Access;
  readonly #table: Table;

  constructor(access: Access, table: Table) {
    this.name = table.definition.name;
    this.#access = access;
    this.#table = table;
  }

  async insert(document: T, options: InsertOptions = {}): Promise<Stored<T>> {
    const id = parseInsert(options);
    const added: NewDocument = { id, text: this.#toText(document) };
    return this.#access.write(
      this.#table,
      (session) =>
        this.#access.joining?.insert<T>(this.#table, added) ??
        insertOne<T>(session, this.#table, added),
    );
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const added = checkList("documents", documents).map((document): NewDocument => {
      return { id: undefined, text: this.#toText(document) };
    });
    const stored = await this.#access.write(this.#table, (session) =>
      insertAll<T>(session, this.#table, added),
    );
    this.#access.noteGrowth?.(this.#table, stored.length);
    return stored;
  }

  async upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>> {
    const text = this.#toText(document);
    const { id, filter } = parseUpsert(this.#table.definition, parseJsonText(text), options);
    if (id !== undefined) checkNewId(id);
    const { change } = options;
    const make = (stored: Stored<T>): unknown =>
      change === undefined ? parseJsonText(text) : applyChange(change, stored);
    return this.#access.write(this.#table, (session) =>
      upsertOne<T>(session, this.#table, { id, filter, text, make }),
    );
  }

  async get(id: string, options?: ReadOptions): Promise<Stored<T> | undefined> {
    const staleness = parseReadOptions(options);
    const joining = staleness === 0 ? this.#access.joining : undefined;
    return this.#access.read(
      this.#table,
      (session) =>
        joining?.get<T>(this.#table, checkId(id)) ?? readOne<T>(session, this.#table, checkId(id)),
      staleness,
    );
  }

  async getMany(
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<readonly (Stored<T> | undefined)[]> {
    const checked = checkList("ids", ids).map(checkId);
    return this.#access.read(
      this.#table,
      (session) => readMany<T>(session, this.#table, checked),
      parseReadOptions(options),
    );
  }

  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find<const F extends readonly FieldPath<T>[]>(
    query: FindQuery<T> & { readonly fields: F },
  ): Promise<readonly Projected<T, F>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;
  async find(query: FindQuery<T> = {}): Promise<readonly (Projected<T> | Stored<T>)[]> {
    const parsed = parseQuery(query);
    return this.#access.read(
      this.#table,
      async (session) => {
        const found = await this.#find(session, parsed);
        return found.map((stored) => projected(stored, parsed.fields));
      },
      parsed.staleness,
    );
  }

  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page<const F extends readonly FieldPath<T>[]>(
    query: PageQuery<T> & { readonly fields: F },
  ): Promise<Page<Projected<T, F>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;
  async page(query: PageQuery<T> = {}): Promise<Page<Projected<T> | Stored<T>>> {
    const { parsed, limit, total } = parsePage(query);
    return this.#access.read(
      this.#table,
      async (session) => {
        const { near } = parsed;
        if (near !== undefined) return this.#pageNear(session, { parsed, near, limit, total });
        const found = await this.#find(session, { ...parsed, limit: limit + 1 });
        const last = found.length > limit ? found[limit - 1] : undefined;
        return {
          items: found.slice(0, limit).map((stored) => projected(stored, parsed.fields)),
          next: last === undefined ? undefined : await this.#cursor(session, parsed, last),
          total: await this.#total(session, parsed, total),
        };
      },
      parsed.staleness,
    );
  }

  async count(query: CountQuery<T> = {}): Promise<number> {
    const selection = parseCount(query);
    return this.#access.read(
      this.#table,
      (session) => count(session, this.#table, selection),
      selection.staleness,
    );
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
    const merging = mergeChange(text, removed);
    return this.#access.write(this.#table, async (session) => {
      const merged = await mergeOne<T>(session, this.#table, { target, change: merging });
      if (merged !== "unsure") return merged;
      const fields = parseJsonText(text);
      return changeOne<T>(session, this.#table, target, {
        make: (stored) => merge(stored, { fields, removed }),
      });
    });
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
    const filter = parseRemoval(selection);
    return this.#access.write(this.#table, (session) =>
      removeMatching(session, this.#table, filter),
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
    return this.#access.write(
      this.#table,
      async (session) => (await purge(session, this.#table, { id })) > 0,
    );
  }

  async purgeMany(selection: PurgeSelection<T> = {}): Promise<number> {
    requireSoftDelete(this.#table.definition);
    const parsed = parsePurge(selection);
    return this.#access.write(this.#table, (session) => purge(session, this.#table, parsed));
  }

  async claim(query: ClaimQuery<T> = {}): Promise<readonly Lease<T>[]> {
    const parsed = parseClaim(query);
    return this.#access.write(this.#table, (session) =>
      claimMatching<T>(session, this.#table, parsed),
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

  async #find(session: Session, query: ParsedQuery): Promise<readonly Stored<T>[]> {
    const { near } = query;
    const after = this.#after(query);
    if (near === undefined) return find<T>(session, this.#table, { query, after });
    const found = await findNear<T>(session, this.#table, { query, near, after });
    return found.map(({ document }) => document);
  }

  #after({ after, order }: ParsedQuery): readonly SortValue[] | undefined {
    return after === undefined ? undefined : readCursor(this.name, order, after);
  }

  async #pageNear(
    session: Session,
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
  ): Promise<Page<Projected<T> | Stored<T>>> {
    const query = { ...parsed, limit: limit + 1 };
    const after = this.#after(parsed);
    const found = await findNear<T>(session, this.#table, { query, near, after });
    const last = found.length > limit ? found[limit - 1] : undefined;
    const values = last === undefined ? undefined : [last.square, last.document.id];
    return {
      items: found.slice(0, limit).map(({ document }) => projected(document, parsed.fields)),
      next: values === undefined ? undefined : writeValues(this.name, parsed.order, values),
      total: await this.#total(session, parsed, total),
    };
  }

  async #cursor(session: Session, { order }: ParsedQuery, last: Stored<T>): Promise<string> {
    const values = await sortValues(session, this.#table, { document: last, order });
    return writeValues(this.name, order, values);
  }

  async #total(
    session: Session,
    query: ParsedQuery,
    total: number | "exact" | "none",
  ): Promise<Total | undefined> {
    if (total === "none") return undefined;
    if (total === "exact") return { count: await count(session, this.#table, query), exact: true };
    const counted = await count(session, this.#table, { ...query, max: total + 1 });
    return { count: Math.min(counted, total), exact: counted <= total };
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
