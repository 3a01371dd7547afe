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
import { readCursor, writeCursor, writeValues } from "../../query/cursor.ts";
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
import type { Access } from "./access.ts";
import { claimMatching, releaseLease, renewLease } from "./leasing.ts";
import { readMany, readOne } from "./reading.ts";
import { toStored } from "./row.ts";
import type { Session } from "./session.ts";
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
    const id = parseInsert(options);
    const added: NewDocument = { id, text: this.#toText(document) };
    return this.#access.write(this.#table, (session) => this.#insert(session, added));
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const added = checkList("documents", documents).map((document): NewDocument => {
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
      const changed =
        found === undefined ? undefined : this.#changeOrRestore(session, found, { make, text });
      return changed ?? this.#insert(session, { id, text });
    });
  }

  get(id: string, options?: ReadOptions): Promise<Stored<T> | undefined> {
    return this.#access.read(this.#table, (reader) => {
      parseReadOptions(options);
      return readOne<T>(reader, this.#table, checkId(id));
    });
  }

  getMany(
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<readonly (Stored<T> | undefined)[]> {
    return this.#access.read(this.#table, (reader) => {
      parseReadOptions(options);
      return readMany<T>(reader, this.#table, checkList("ids", ids).map(checkId));
    });
  }

  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find<const F extends readonly FieldPath<T>[]>(
    query: FindQuery<T> & { readonly fields: F },
  ): Promise<readonly Projected<T, F>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;
  async find(query: FindQuery<T> = {}): Promise<readonly (Projected<T> | Stored<T>)[]> {
    const parsed = parseQuery(query);
    const find = { query: parsed, after: this.#after(parsed) };
    const { items } = await this.#access.query(this.#table, { find }, (row) =>
      projected(toStored<T>(this.#table, row), parsed.fields),
    );
    return items;
  }

  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page<const F extends readonly FieldPath<T>[]>(
    query: PageQuery<T> & { readonly fields: F },
  ): Promise<Page<Projected<T, F>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;
  async page(query: PageQuery<T> = {}): Promise<Page<Projected<T> | Stored<T>>> {
    const { parsed, limit, total } = parsePage(query);
    const find = { query: { ...parsed, limit: limit + 1 }, after: this.#after(parsed) };
    const max = total === "exact" || total === "none" ? undefined : total + 1;
    const counting = total === "none" ? undefined : { ...parsed, max };
    const { items, count } = await this.#access.query(
      this.#table,
      { find, count: counting },
      (row) => ({ stored: toStored<T>(this.#table, row), square: row[6] }),
    );
    const last = items.length > limit ? items[limit - 1] : undefined;
    return {
      items: items.slice(0, limit).map(({ stored }) => projected(stored, parsed.fields)),
      next: last === undefined ? undefined : this.#cursor(parsed, last),
      total: totalOf(count, total),
    };
  }

  async count(query: CountQuery<T> = {}): Promise<number> {
    const counting = parseCount(query);
    return (await this.#access.query(this.#table, { count: counting }, String)).count;
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
    const filter = parseRemoval(selection);
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

  #after({ after, order }: ParsedQuery): readonly SortValue[] | undefined {
    return after === undefined ? undefined : readCursor(this.name, order, after);
  }

  #cursor(
    { near, order }: ParsedQuery,
    { stored, square }: { readonly stored: Stored<T>; readonly square: unknown },
  ): string {
    if (near === undefined) return writeCursor(this.name, order, stored);
    return writeValues(this.name, order, [Number(square), stored.id]);
  }

  /** Changes the document, or the one that was removed, whose content does not come back. */
  #changeOrRestore(
    session: Session,
    id: string,
    { make, text }: { readonly make: (stored: Stored<T>) => unknown; readonly text: string },
  ): Stored<T> | undefined {
    const target: Target = { id, ifVersion: undefined };
    const changed = changeOne<T>(session, this.#table, target, { make });
    if (changed !== undefined || !this.#table.softDelete) return changed;
    return changeOne<T>(session, this.#table, target, {
      make: () => parseJsonText(text),
      restores: true,
    });
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

function totalOf(counted: number, total: number | "exact" | "none"): Total | undefined {
  if (total === "none") return undefined;
  if (total === "exact") return { count: counted, exact: true };
  return { count: Math.min(counted, total), exact: counted <= total };
}
