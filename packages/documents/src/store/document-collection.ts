import type {
  AggregateGroup,
  AggregateQuery,
  AggregateValues,
  DistinctQuery,
  Facets,
  FacetsQuery,
  MemberValue,
} from "../api/aggregate.ts";
import type { Collection, InsertOptions, WriteOptions } from "../api/collection.ts";
import type { Change, Projected, Stored } from "../api/document.ts";
import type { FieldPath, FieldValue } from "../api/field-path.ts";
import type { CountQuery, FindQuery } from "../api/find-query.ts";
import type { ClaimQuery, Lease } from "../api/lease.ts";
import type { Page, PageQuery } from "../api/page.ts";
import type { ReadOptions } from "../api/read-options.ts";
import type { PurgeSelection } from "../api/soft-deletion.ts";
import type { UpsertOptions } from "../api/upsert.ts";
import type { Where } from "../api/where.ts";
import { applyChange, mergeChange, ownFields } from "../document/change.ts";
import { parseJsonText, toJsonText } from "../document/json-text.ts";
import { projected } from "../document/projection.ts";
import type { Access } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import type { Operation, Row } from "../engines/operation.ts";
import { changeDocument, type Modification } from "../engines/operations/change.ts";
import type { ReadPlan } from "../engines/operations/find.ts";
import { claimDocuments } from "../engines/operations/claim.ts";
import { getDocuments } from "../engines/operations/get.ts";
import { insertDocuments } from "../engines/operations/insert.ts";
import { mergeDocument } from "../engines/operations/merge.ts";
import { purgeDocument, removeDocument } from "../engines/operations/remove.ts";
import { upsertDocument } from "../engines/operations/upsert.ts";
import { parseAggregate, parseDistinct, parseFacets } from "../query/parse-aggregate.ts";
import { parseClaim, parseExpiry } from "../query/parse-claim.ts";
import { parsePage } from "../query/parse-page.ts";
import { parsePurge, requireSoftDelete } from "../query/parse-purge.ts";
import { parseCount, type ParsedSelection, parseQuery } from "../query/parse-query.ts";
import { parseReadOptions } from "../query/parse-read-options.ts";
import { parseUpsert } from "../query/parse-upsert.ts";
import {
  checkId,
  checkList,
  checkNewId,
  type NewDocument,
  parseInsert,
  parseRemoval,
  parseTarget,
  type Target,
} from "../query/targets.ts";
import { facetsOf, groupOf, memberValue, refuseTooMany } from "./summaries.ts";
import type { ObserveQuery } from "./observe-queries.ts";
import { type Reading, selectDocuments, selectPage } from "./select-documents.ts";

/** A collection: checks and copies what callers ask for, and runs it on an engine. */
export class DocumentCollection<T> implements Collection<T> {
  readonly name: string;
  readonly #access: Access;
  readonly #layout: Layout;
  readonly #observe: ObserveQuery | undefined;
  readonly #reading: Reading;

  constructor(access: Access, layout: Layout, observe?: ObserveQuery) {
    this.name = layout.definition.name;
    this.#access = access;
    this.#layout = layout;
    this.#observe = observe;
    this.#reading = { access, layout, observe };
  }

  async insert(document: T, options: InsertOptions = {}): Promise<Stored<T>> {
    const id = parseInsert(options);
    return this.#access.insert<T>(this.#layout, { id, text: this.#toText(document) });
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const added = checkList("documents", documents).map((document): NewDocument => {
      return { id: undefined, text: this.#toText(document) };
    });
    return this.#write(() => insertDocuments<T>(this.#layout, added));
  }

  async upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>> {
    const text = this.#toText(document);
    const { id, filter } = parseUpsert(this.#layout.definition, parseJsonText(text), options);
    if (id !== undefined) checkNewId(id);
    const { change } = options;
    const make = (stored: Stored<T>): unknown =>
      change === undefined ? parseJsonText(text) : applyChange(change, stored);
    return this.#write(() => upsertDocument<T>(this.#layout, { id, filter, text, make }));
  }

  /** Not `async`, which costs a tenth of a read. */
  get(id: string, options?: ReadOptions): Promise<Stored<T> | undefined> {
    try {
      return this.#access.get<T>(this.#layout, checkId(id), parseReadOptions(options));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new TypeError(String(error)));
    }
  }

  async getMany(
    ids: readonly string[],
    options?: ReadOptions,
  ): Promise<readonly (Stored<T> | undefined)[]> {
    const checked = checkList("ids", ids).map(checkId);
    const staleness = parseReadOptions(options);
    return this.#access.read(this.#layout, () => getDocuments<T>(this.#layout, checked), staleness);
  }

  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find<const F extends readonly FieldPath<T>[]>(
    query: FindQuery<T> & { readonly fields: F },
  ): Promise<readonly Projected<T, F>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;
  async find(query: FindQuery<T> = {}): Promise<readonly (Projected<T> | Stored<T>)[]> {
    const parsed = parseQuery(query);
    const { items } = await selectDocuments<T>(this.#reading, { query: parsed });
    return items.map(({ stored }) => projected(stored, parsed.fields));
  }

  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page<const F extends readonly FieldPath<T>[]>(
    query: PageQuery<T> & { readonly fields: F },
  ): Promise<Page<Projected<T, F>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;
  async page(query: PageQuery<T> = {}): Promise<Page<Projected<T> | Stored<T>>> {
    return selectPage<T>(this.#reading, parsePage(query));
  }

  async count(query: CountQuery<T> = {}): Promise<number> {
    const count = parseCount(query);
    const { staleness = 0 } = count;
    this.#observe?.(this.#layout, { count });
    return (await this.#access.find(this.#layout, { count }, { staleness, map: String })).count;
  }

  async aggregate<
    const V extends AggregateValues<FieldPath<T>>,
    const B extends FieldPath<T> = never,
  >(query: AggregateQuery<T, B, V>): Promise<readonly AggregateGroup<T, B, V>[]> {
    const groups = parseAggregate(query);
    const rows = await this.#summarize({ groups }, groups);
    return rows.map((row) => groupOf<T, B, V>(groups, row));
  }

  async distinct<const P extends FieldPath<T>>(
    field: P,
    query: DistinctQuery<T> = {},
  ): Promise<readonly MemberValue<FieldValue<Stored<T>, P>>[]> {
    const members = parseDistinct(field, query);
    const rows = await this.#summarize({ members }, members);
    return rows.map(([, text]) => memberValue<T, P>(text));
  }

  async facets<const F extends FieldPath<T>>(query: FacetsQuery<T, F>): Promise<Facets<T, F>> {
    const members = parseFacets(query);
    return facetsOf<T, F>(members, await this.#summarize({ members }, members));
  }

  async update(
    id: string,
    change: Change<T> | ((stored: Stored<T>) => Change<T>),
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    if (typeof change === "function") {
      const make = (stored: Stored<T>): unknown => mergeChange(change, stored);
      return this.#change(target, { isUserCode: true, make });
    }
    const text = this.#toText(change);
    const removed = Object.entries(change).flatMap(([name, value]) =>
      value === undefined ? [name] : [],
    );
    const merge = { text, fields: parseJsonText(text), removed };
    return this.#write(() => mergeDocument<T>(this.#layout, target, merge));
  }

  async replace(
    id: string,
    document: T | ((stored: Stored<T>) => T),
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    if (isFunction(document)) {
      const make = (stored: Stored<T>): unknown => applyChange(document, stored);
      return this.#change(target, { isUserCode: true, make });
    }
    const text = this.#toText(document);
    return this.#change(target, { make: () => parseJsonText(text) });
  }

  async remove(id: string, options: WriteOptions = {}): Promise<boolean> {
    const target = parseTarget(id, options);
    return this.#access.free(this.#layout, () => removeDocument(this.#layout, target));
  }

  async removeMany(selection: { readonly where: Where<T> }): Promise<number> {
    const filter = parseRemoval(selection);
    this.#observe?.(this.#layout, { count: { filter, words: [], deleted: "exclude" } });
    return this.#access.remove(this.#layout, { kind: "remove", filter });
  }

  async restore(id: string): Promise<Stored<T> | undefined> {
    requireSoftDelete(this.#layout.definition);
    return this.#change(parseTarget(id, {}), { make: ownFields, restores: true });
  }

  async purge(id: string): Promise<boolean> {
    requireSoftDelete(this.#layout.definition);
    checkId(id);
    return this.#access.free(this.#layout, () => purgeDocument(this.#layout, id));
  }

  async purgeMany(selection: PurgeSelection<T> = {}): Promise<number> {
    requireSoftDelete(this.#layout.definition);
    return this.#access.remove(this.#layout, { kind: "purge", ...parsePurge(selection) });
  }

  async claim(query: ClaimQuery<T> = {}): Promise<readonly Lease<T>[]> {
    const parsed = parseClaim(query);
    this.#observe?.(this.#layout, { find: { query: parsed.query, after: undefined } });
    return this.#write(() => claimDocuments<T>(this.#layout, parsed));
  }

  async renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token };
    const duration = parseExpiry(expiry);
    return this.#write(() => this.#layout.renew(held, Date.now() + duration));
  }

  async release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token };
    return this.#write(() => this.#layout.release(held));
  }

  async #summarize(plan: ReadPlan, { staleness = 0 }: ParsedSelection): Promise<readonly Row[]> {
    this.#observe?.(this.#layout, plan);
    const { items, count } = await this.#access.find(this.#layout, plan, {
      staleness,
      map: unchanged,
    });
    refuseTooMany(count);
    return items;
  }

  #write<R>(operation: () => Operation<R>): Promise<R> {
    return this.#access.write(this.#layout, operation);
  }

  #change(target: Target, modification: Modification<T>): Promise<Stored<T> | undefined> {
    return this.#write(() => changeDocument<T>(this.#layout, target, modification));
  }

  #toText(document: unknown): string {
    return toJsonText(document, this.#layout.reserved);
  }
}

function unchanged(row: Row): Row {
  return row;
}

/** A document is never a function: it would have no JSON text. */
function isFunction<T>(
  document: T | ((stored: Stored<T>) => T),
): document is (stored: Stored<T>) => T {
  return typeof document === "function";
}
