import { DocumentsTypeError } from "./errors.ts";
import { type FieldPath, parsePath } from "./field-path.ts";

/** Describes a collection. */
export interface CollectionOptions<T> {
  /**
   * Fields, or lists of fields, that no two documents may share. Documents in which one of the
   * fields is missing or null are never in conflict. Default: none.
   */
  readonly unique?: readonly (FieldPath<T> | readonly FieldPath<T>[])[] | undefined;
  /** Fields, or lists of fields, to filter and sort by quickly. Default: none. */
  readonly indexes?: readonly (FieldPath<T> | readonly FieldPath<T>[])[] | undefined;
  /** Fields whose text the keyword search `q` looks in. Default: none. */
  readonly search?: readonly FieldPath<T>[] | undefined;
}

/** A collection's name and indexes, with the type of its documents. */
export interface CollectionDefinition<T> {
  /** The name. */
  readonly name: string;
  /** The unique indexes, each a list of fields. */
  readonly unique: readonly (readonly string[])[];
  /** The other indexes, each a list of fields. */
  readonly indexes: readonly (readonly string[])[];
  /** The fields that `q` looks in. */
  readonly search: readonly string[];
  /** Never set: carries the type of the documents. */
  readonly document?: T | undefined;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,47}$/;

/**
 * Defines a collection; a definition is a plain value that any store can use.
 *
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` for a name that is not 1 to 48 ASCII
 *   letters, digits, `_` or `-` after a letter, or for an impossible field.
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
  options: CollectionOptions<T> = {},
): CollectionDefinition<T> {
  if (typeof name !== "string") {
    throw new DocumentsTypeError("ERR_DOCUMENTS_DEFINITION", "A collection name is a string");
  }
  if (!NAME.test(name) || /^sqlite/i.test(name)) {
    throw new DocumentsTypeError(
      "ERR_DOCUMENTS_DEFINITION",
      `${JSON.stringify(name.slice(0, 64))} is not a collection name, expected a letter and ` +
        'up to 47 letters, digits, "_" or "-", not beginning with "sqlite"',
    );
  }
  return Object.freeze({
    name,
    unique: fieldLists(name, options.unique ?? []),
    indexes: fieldLists(name, options.indexes ?? []),
    search: fieldList(name, options.search ?? []),
  });
}

/**
 * Tells whether two definitions describe the same collection with the same indexes.
 *
 * @internal
 */
export function sameDefinition(
  one: CollectionDefinition<unknown>,
  other: CollectionDefinition<unknown>,
): boolean {
  const key = ({ name, unique, indexes, search }: CollectionDefinition<unknown>): string =>
    JSON.stringify([name, unique, indexes, search]);
  return one === other || key(one) === key(other);
}

function fieldLists(
  collection: string,
  lists: readonly (string | readonly string[])[],
): readonly (readonly string[])[] {
  return Object.freeze(
    lists.map((entry) => {
      const fields = fieldList(collection, typeof entry === "string" ? [entry] : entry);
      if (fields.length === 0) throw faulty(collection, "an index has no fields");
      return fields;
    }),
  );
}

function fieldList(collection: string, fields: readonly string[]): readonly string[] {
  const given: unknown = fields;
  if (!Array.isArray(given)) throw faulty(collection, "fields are given as a list");
  for (const field of fields) {
    try {
      parsePath(field);
    } catch (cause) {
      throw faulty(collection, cause instanceof Error ? cause.message : "a field is wrong", cause);
    }
  }
  if (new Set(fields).size < fields.length) throw faulty(collection, "a field is named twice");
  return Object.freeze([...fields]);
}

function faulty(collection: string, reason: string, cause?: unknown): DocumentsTypeError {
  return new DocumentsTypeError(
    "ERR_DOCUMENTS_DEFINITION",
    `The definition of "${collection}" is wrong: ${reason}`,
    cause === undefined ? undefined : { cause },
  );
}
