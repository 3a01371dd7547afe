import { CollectionReads } from "./collection-reads.ts";
import type {
  Increments,
  InsertOptions,
  ManyChanges,
  PurgeSelection,
  UpsertOptions,
  WriteOptions,
} from "../api/changing.ts";
import type { Collection } from "../api/collection.ts";
import type { Change, Stored } from "../api/document.ts";
import type { ClaimQuery, Lease } from "../api/lease.ts";
import type { Where } from "../api/where.ts";
import { applyChange, mergeChange, mergeFields, ownFields } from "../document/change.ts";
import { checkSchema, checkSchemaNow } from "../document/check-schema.ts";
import { incrementFields, parseIncrements } from "../document/increments.ts";
import { parseJsonText, toJsonText } from "../document/json-text.ts";
import type { Operation } from "../engines/operation.ts";
import { changeDocument, type Modification } from "../engines/operations/change.ts";
import { changeRows } from "../engines/operations/change-many.ts";
import { claimDocuments } from "../engines/operations/claim.ts";
import { insertDocument, insertDocuments } from "../engines/operations/insert.ts";
import { type Merge, mergeDocument } from "../engines/operations/merge.ts";
import { purgeDocument, removeDocument } from "../engines/operations/remove.ts";
import { upsertDocument } from "../engines/operations/upsert.ts";
import {
  parsePurge,
  parseRemoval,
  parseUpdateMany,
  requireSoftDelete,
} from "../query/parse-many.ts";
import { parseClaim, parseExpiry } from "../query/parse-query.ts";
import { parseUpsert } from "../query/parse-upsert.ts";
import {
  checkId,
  checkList,
  checkNewId,
  type NewDocument,
  parseInsert,
  parseTarget,
  type Target,
} from "../query/targets.ts";

/** Documents of a part of many that are changed, which takes some 10 milliseconds on SQLite. */
const partSize = 250;

/** A collection: checks and copies what callers ask for, and runs it on an engine. */
export class DocumentCollection<T> extends CollectionReads<T> implements Collection<T> {
  async insert(document: T, options: InsertOptions = {}): Promise<Stored<T>> {
    const id = parseInsert(options);
    const given = this.#checkedText(document);
    const text = typeof given === "string" ? given : await given;
    return this.#write(() => insertDocument<T>(this.layout, { id, text }));
  }

  async insertMany(documents: readonly T[]): Promise<readonly Stored<T>[]> {
    const given: readonly (Promise<string> | string)[] = checkList("documents", documents).map(
      (each) => this.#checkedText(each),
    );
    const texts = isTexts(given)
      ? given
      : await Promise.all(given.map((text) => Promise.resolve(text)));
    const added = texts.map((text): NewDocument => ({ id: undefined, text }));
    return this.#write(() => insertDocuments<T>(this.layout, added));
  }

  async upsert(document: T, options: UpsertOptions<T>): Promise<Stored<T>> {
    const given = this.#checkedText(document);
    const text = typeof given === "string" ? given : await given;
    const { id, filter } = parseUpsert(this.layout.definition, parseJsonText(text), options);
    if (id !== undefined) checkNewId(id);
    const { change } = options;
    const make = (stored: Stored<T>): unknown =>
      change === undefined
        ? parseJsonText(text)
        : (checkSchemaNow(this.layout.definition, applyChange(change, stored)) ?? null);
    return this.#write(() => upsertDocument<T>(this.layout, { id, filter, text, make }));
  }

  async update(
    id: string,
    change: Change<T> | ((stored: Stored<T>) => Change<T>),
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    if (typeof change === "function" || this.layout.definition.schema !== undefined) {
      return this.#change(target, this.#modification(change));
    }
    const merge = this.#toMerge(change);
    return this.#write(() => mergeDocument<T>(this.layout, target, merge));
  }

  async updateMany(changes: ManyChanges<T>): Promise<number> {
    const filter = parseUpdateMany(changes);
    this.observe?.(this.layout, { count: { filter, words: [], deleted: "exclude" } });
    const many = { filter, modification: this.#checked(this.#modification(changes.change)) };
    const plan = { removal: { kind: "remove", filter } } as const;
    const { items: keys } = await this.access.find(this.layout, plan, ([key = null]) => key);
    const size = this.access.isTransaction ? Math.max(1, keys.length) : partSize;
    let count = 0;
    for (let first = 0; first < keys.length; first += size) {
      const part = keys.slice(first, first + size);
      count += await this.#write(() => changeRows(this.layout, part, many));
    }
    return count;
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
    const given = this.#checkedText(document);
    const text = typeof given === "string" ? given : await given;
    const modification = { make: (): unknown => parseJsonText(text) };
    return this.#write(() => changeDocument<T>(this.layout, target, modification));
  }

  async increment(
    id: string,
    fields: Increments<T>,
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    const target = parseTarget(id, options);
    const increments = parseIncrements(fields);
    return this.#change(target, { make: (stored) => incrementFields(stored, increments) });
  }

  async remove(id: string, options: WriteOptions = {}): Promise<boolean> {
    const target = parseTarget(id, options);
    return this.#write(() => removeDocument(this.layout, target));
  }

  async removeMany(selection: { readonly where: Where<T> }): Promise<number> {
    const filter = parseRemoval(selection);
    this.observe?.(this.layout, { count: { filter, words: [], deleted: "exclude" } });
    return this.access.remove(this.layout, { kind: "remove", filter });
  }

  async restore(id: string): Promise<Stored<T> | undefined> {
    requireSoftDelete(this.layout.definition);
    const target = parseTarget(id, {});
    const modification = { make: ownFields, restores: true };
    return this.#write(() => changeDocument<T>(this.layout, target, modification));
  }

  async purge(id: string): Promise<boolean> {
    requireSoftDelete(this.layout.definition);
    checkId(id);
    return this.#write(() => purgeDocument(this.layout, id));
  }

  async purgeMany(selection: PurgeSelection<T> = {}): Promise<number> {
    requireSoftDelete(this.layout.definition);
    return this.access.remove(this.layout, { kind: "purge", ...parsePurge(selection) });
  }

  async claim(query: ClaimQuery<T> = {}): Promise<readonly Lease<T>[]> {
    const parsed = parseClaim(query);
    this.observe?.(this.layout, { find: { query: parsed.query, after: undefined } });
    return this.#write(() => claimDocuments<T>(this.layout, parsed));
  }

  async renew(lease: Pick<Lease<T>, "document" | "token">, expiry?: number): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token };
    const duration = parseExpiry(expiry);
    return this.#write(() => this.layout.renew(held, Date.now() + duration));
  }

  async release(lease: Pick<Lease<T>, "document" | "token">): Promise<boolean> {
    const held = { id: lease.document.id, token: lease.token };
    return this.#write(() => this.layout.release(held));
  }

  #write<R>(operation: () => Operation<R>): Promise<R> {
    return this.access.write(this.layout, operation);
  }

  #change(target: Target, modification: Modification<T>): Promise<Stored<T> | undefined> {
    const checked = this.#checked(modification);
    return this.#write(() => changeDocument<T>(this.layout, target, checked));
  }

  /** Checks what a modification makes of a document, where the collection has a schema. */
  #checked(modification: Modification<T>): Modification<T> {
    const { definition } = this.layout;
    if (definition.schema === undefined) return modification;
    const make = (stored: Stored<T>): unknown => {
      const made = modification.make(stored);
      return made === undefined ? made : (checkSchemaNow(definition, made) ?? null);
    };
    // A schema may change the object that it gets.
    return { ...modification, isUserCode: true, make };
  }

  #modification(change: Change<T> | ((stored: Stored<T>) => Change<T>)): Modification<T> {
    if (typeof change === "function") {
      return { isUserCode: true, make: (stored) => mergeChange(change, stored) };
    }
    const merge = this.#toMerge(change);
    return { make: (stored) => mergeFields(stored, merge) };
  }

  #toMerge(change: Change<T>): Merge {
    const text = this.#toText(change);
    const removed = Object.entries(change).flatMap(([name, value]) =>
      value === undefined ? [name] : [],
    );
    return { text, fields: parseJsonText(text), removed };
  }

  /** The text of a document as it is now; of one that a schema must check, later. */
  #checkedText(document: unknown): Promise<string> | string {
    const { definition } = this.layout;
    if (definition.schema === undefined) return this.#toText(document);
    return checkSchema(definition, document).then((checked) => this.#toText(checked));
  }

  #toText(document: unknown): string {
    return toJsonText(document, this.layout.reserved);
  }
}

function isTexts(texts: readonly (Promise<string> | string)[]): texts is readonly string[] {
  return texts.every((text) => typeof text === "string");
}

/** A document is never a function: it would have no JSON text. */
function isFunction<T>(
  document: T | ((stored: Stored<T>) => T),
): document is (stored: Stored<T>) => T {
  return typeof document === "function";
}
