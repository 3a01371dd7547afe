import { isObject, type StandardSchema } from "@fetchwork/kit";
import { checkDefinitionOptions } from "./check-options.ts";
import { definitionError, type DocumentsTypeError } from "./errors.ts";
import { type FieldPath, type ListPath, parsePath } from "./field-path.ts";

/** When the documents of a collection expire. */
export interface Expires<P = string> {
  /**
   * The field with a time: ISO 8601 text with a time zone, or a date for its midnight in UTC, or
   * milliseconds since 1970. A document without such a field never expires. `createdAt` and
   * `updatedAt` are possible too.
   */
  readonly field: P;
  /** The time to add, in milliseconds from 0. Default: `0`. */
  readonly after?: number | undefined;
}

/** Describes a collection. */
export interface CollectionOptions<T> {
  /**
   * Fields, or lists of fields, that no two documents may share. Documents in which one of the
   * fields is missing or null are never in conflict. Default: none.
   */
  readonly unique?: readonly (FieldPath<T> | readonly FieldPath<T>[])[] | undefined;
  /**
   * Fields, or lists of fields, to filter and sort by quickly. A field that is named alone also
   * finds documents by the members of its lists (`contains`, `containsAny`). It may be reached
   * through lists: `"comments.author"`. Default: none.
   */
  readonly indexes?: readonly (FieldPath<T> | ListPath<T> | readonly FieldPath<T>[])[] | undefined;
  /** Fields whose text the keyword search `q` reads. Default: none. */
  readonly search?: readonly FieldPath<T>[] | undefined;
  /**
   * Fields that hold a place on the earth, which `near` finds documents by: `{ latitude, longitude
   * }` in degrees, or a Point of GeoJSON. A document with anything else there is not found by it.
   * Default: none.
   */
  readonly geo?: readonly FieldPath<T>[] | undefined;
  /**
   * Keeps removed documents until they are purged: `remove` and `removeMany` keep the document with
   * the time in `deletedAt`, which is then a reserved field. It is not found, counted or changed
   * any more unless `deleted` asks for it; its id stays taken, its unique fields are free at once.
   * Without it `restore`, `purge` and `purgeMany` reject with `ERR_DOCUMENTS_DEFINITION`. Default:
   * `false`.
   */
  readonly softDelete?: boolean | undefined;
  /**
   * When documents expire. Expired ones are not found, counted or changed any more. They are
   * removed for good within about a minute while a store is open. Default: never.
   */
  readonly expires?: Expires<FieldPath<T>> | undefined;
  /**
   * Writes each change to the feed that `store.changes` reads: only what happened to which document
   * (`"ids"`), or with the document as it is then (`"documents"`). Default: neither.
   */
  readonly changes?: "documents" | "ids" | undefined;
  /**
   * Keeps the number of documents with each change. So `count` without a filter costs the same
   * however many documents there are. SQLite always keeps it. PostgreSQL keeps it by triggers,
   * which make inserts and removals slower; in distributed mode it is not kept. Not possible with
   * `expires`. Default: `false`.
   */
  readonly keepTotal?: boolean | undefined;
  /**
   * Check of every document before it is stored, without the fields of the store: a schema that
   * follows Standard Schema. The result of the schema is stored, with its defaults and conversions,
   * and its type is that of the documents. Else the change rejects with a `SchemaError`. A schema
   * that is asynchronous works for `insert`, `insertMany` and whole documents in `replace` and
   * `upsert`; every other change rejects with `ERR_DOCUMENTS_DEFINITION`, because nothing can be
   * waited for there. Documents that are stored already stay readable, and what is restored or
   * loaded from a backup is not checked. Default: none.
   */
  readonly schema?: StandardSchema<unknown, T> | undefined;
}

/** A collection's name and indexes, with the type of its documents. */
export interface CollectionDefinition<T> {
  /** The name. */
  readonly name: string;
  /** The unique indexes, each a list of fields. */
  readonly unique: readonly (readonly string[])[];
  /** The other indexes, each a list of fields. */
  readonly indexes: readonly (readonly string[])[];
  /** The fields that `q` reads. */
  readonly search: readonly string[];
  /** The fields that hold a place. */
  readonly geo?: readonly string[] | undefined;
  /** Whether removed documents are kept until they are purged. */
  readonly softDelete?: boolean | undefined;
  /** When documents expire. */
  readonly expires?: Expires | undefined;
  /** Content of records in the feed of changes. */
  readonly changes?: "documents" | "ids" | undefined;
  /** Whether the number of documents is kept on PostgreSQL too. */
  readonly keepTotal?: boolean | undefined;
  /** Schema of documents. Not enumerable, so that threads can receive the definition. */
  readonly schema?: StandardSchema<unknown> | undefined;
  /** Never set: carries the type of the documents. */
  readonly document?: T | undefined;
}

/** Tables of the engines themselves have such names; PostgreSQL looks for its own ones first. */
const reservedNames = /^(?:sqlite|pg_)/i;
const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,47}$/;

/**
 * Defines a collection; a definition is a plain value that any store can use.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` for a name that is not 1 to 48 ASCII
 *   letters, digits, `_` or `-` after a letter, or begins with `sqlite` or `pg_`, or for an invalid
 *   field.
 * @example
 * ```ts
 * interface User {
 *   email: string;
 *   name?: string;
 * }
 * const users = defineCollection<User>("users", { unique: ["email"], search: ["name"] });
 * ```
 */
export function defineCollection<T extends object>(
  name: string,
  options: CollectionOptions<NoInfer<T>> & { readonly schema: StandardSchema<unknown, T> },
): CollectionDefinition<T>;
export function defineCollection<T extends object = Record<string, unknown>>(
  name: string,
  options?: CollectionOptions<NoInfer<T>> & { readonly schema?: undefined },
): CollectionDefinition<T>;
export function defineCollection<T extends object>(
  name: string,
  options: CollectionOptions<NoInfer<T>> = {},
): CollectionDefinition<T> {
  if (typeof name !== "string") {
    throw definitionError("a collection name must be a string");
  }
  if (!namePattern.test(name) || reservedNames.test(name)) {
    throw definitionError(
      `${JSON.stringify(name.slice(0, 64))} is not a collection name, expected a letter and ` +
        'up to 47 letters, digits, "_" or "-", not beginning with "sqlite" or "pg_"',
    );
  }
  checkDefinitionOptions("defineCollection", options, [
    "unique",
    "indexes",
    "search",
    "geo",
    "softDelete",
    "expires",
    "changes",
    "keepTotal",
    "schema",
  ]);
  const definition: CollectionDefinition<T> = {
    name,
    unique: fieldLists(name, options.unique ?? []),
    indexes: fieldLists(name, options.indexes ?? []),
    search: fieldList(name, options.search ?? []),
    ...extras(name, options),
  };
  const { schema } = options;
  if (schema !== undefined) {
    checkSchemaOption(name, schema);
    Object.defineProperty(definition, "schema", { value: schema, enumerable: false });
  }
  return Object.freeze(definition);
}

/** Returns whether two definitions describe the same collection with the same indexes. */
export function sameDefinition(
  one: CollectionDefinition<unknown>,
  other: CollectionDefinition<unknown>,
): boolean {
  const key = (definition: CollectionDefinition<unknown>): string => {
    const { name, unique, indexes, search, softDelete = false, expires, changes } = definition;
    const { field, after = 0 } = expires ?? {};
    const { geo = [], keepTotal = false } = definition;
    const derived = [search, softDelete, field, after, geo];
    return JSON.stringify([name, unique, indexes, derived, changes, keepTotal]);
  };
  return one === other || (one.schema === other.schema && key(one) === key(other));
}

/** Options that a definition has only where they are set. */
type Extra = "changes" | "expires" | "geo" | "keepTotal" | "softDelete";

/** Omits options that are not set. */
function extras(
  name: string,
  { softDelete, expires, changes, geo, keepTotal }: Pick<CollectionOptions<never>, Extra>,
): Pick<CollectionDefinition<unknown>, Extra> {
  if (softDelete !== undefined && typeof softDelete !== "boolean") {
    throw faulty(name, '"softDelete" must be true or false');
  }
  if (changes !== undefined && changes !== "documents" && changes !== "ids") {
    throw faulty(name, '"changes" must be "documents" or "ids"');
  }
  if (keepTotal !== undefined && typeof keepTotal !== "boolean") {
    throw faulty(name, '"keepTotal" must be true or false');
  }
  if (keepTotal === true && expires !== undefined) {
    throw faulty(name, '"keepTotal" cannot be combined with "expires"');
  }
  const places = fieldList(name, geo ?? []);
  return {
    ...(places.length === 0 ? {} : { geo: places }),
    ...(softDelete === true ? { softDelete } : {}),
    ...(expires === undefined ? {} : { expires: checkExpires(name, expires) }),
    ...(changes === undefined ? {} : { changes }),
    ...(keepTotal === true ? { keepTotal } : {}),
  };
}

function checkSchemaOption(name: string, schema: unknown): void {
  // The schemas of some libraries are functions.
  const standard: unknown =
    typeof schema === "object" || typeof schema === "function"
      ? Reflect.get(Object(schema), "~standard")
      : undefined;
  if (isObject(standard) && typeof standard["validate"] === "function") return;
  throw faulty(name, '"schema" must be a schema that follows Standard Schema');
}

function checkExpires(name: string, expires: Expires): Expires {
  checkDefinitionOptions("expires", expires, ["field", "after"]);
  const { field, after = 0 } = expires;
  fieldList(name, [field]);
  if (!(Number.isSafeInteger(after) && after >= 0)) {
    throw faulty(name, '"expires.after" must be a whole number of milliseconds from 0');
  }
  return Object.freeze({ field, after });
}

/**
 * Rejects what is not a definition, such as the name of a collection.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION`
 */
export function checkDefinition(definition: unknown): void {
  if (isObject(definition) && Array.isArray(definition["unique"])) return;
  throw definitionError(
    `expected a collection that "defineCollection" returned, got ${typeof definition}`,
  );
}

function fieldLists(
  collection: string,
  lists: readonly (string | readonly string[])[],
): readonly (readonly string[])[] {
  return Object.freeze(
    lists.map((entry) => {
      const fields = fieldList(collection, typeof entry === "string" ? [entry] : entry);
      if (fields.length === 0) throw faulty(collection, "an index has no fields");
      if (fields.some((field) => field.startsWith("-"))) {
        throw faulty(collection, 'fields of an index must have no "-": it serves both orders');
      }
      return fields;
    }),
  );
}

function fieldList(collection: string, fields: readonly string[]): readonly string[] {
  const given: unknown = fields;
  if (!Array.isArray(given)) throw faulty(collection, "fields must be a list");
  for (const field of fields) {
    try {
      parsePath(field);
    } catch (cause) {
      throw faulty(
        collection,
        cause instanceof Error ? cause.message : "a field is invalid",
        cause,
      );
    }
  }
  if (new Set(fields).size < fields.length) throw faulty(collection, "a field is named twice");
  return Object.freeze([...fields]);
}

function faulty(collection: string, reason: string, cause?: unknown): DocumentsTypeError {
  return definitionError(
    `the definition of "${collection}" is invalid: ${reason}`,
    cause === undefined ? undefined : { cause },
  );
}
