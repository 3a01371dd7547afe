import { isObject } from "@fetchwork/kit";
import type { Stored } from "./document.ts";
import { queryError } from "./errors.ts";

/** The paths of a document's fields: `"title"`, `"address.city"`, `"createdAt"`. */
export type FieldPath<T> = string extends keyof T
  ? string
  : PathOf<Stored<T>, [unknown, unknown, unknown, unknown]>;

/**
 * The paths that lead through lists, such as `"comments.author"` to the author of each comment.
 * They are for the operators `contains` and `containsAny` and for `indexes`.
 */
export type ListPath<T> = string extends keyof T
  ? string
  : ListPathOf<Stored<T>, [unknown, unknown, unknown, unknown]>;

/** The type of what is found at a path that leads through lists. */
export type ListMember<T, P extends string> = P extends `${infer Head}.${infer Rest}`
  ? Head extends keyof T
    ? ListMember<Item<NonNullable<T[Head]>>, Rest>
    : unknown
  : P extends keyof T
    ? Item<NonNullable<T[P]>>
    : unknown;

type Item<V> = V extends readonly (infer M)[] ? NonNullable<M> : V;

/** The type of the value at a path. */
export type FieldValue<T, P extends string> = P extends keyof T
  ? T[P]
  : P extends `${infer Head}.${infer Rest}`
    ? Head extends keyof T
      ? FieldValue<NonNullable<T[Head]>, Rest>
      : unknown
    : unknown;

type PathOf<T, Depth extends readonly unknown[]> = Depth extends readonly [unknown, ...infer Rest]
  ? { [K in keyof T & string]-?: K | NestedPath<K, NonNullable<T[K]>, Rest> }[keyof T & string]
  : never;

type NestedPath<K extends string, V, Rest extends readonly unknown[]> = V extends readonly unknown[]
  ? never
  : V extends object
    ? `${K}.${PathOf<V, Rest>}`
    : never;

type ListPathOf<T, Depth extends readonly unknown[]> = Depth extends readonly [
  unknown,
  ...infer Rest,
]
  ? { [K in keyof T & string]-?: `${K}.${NestedListPath<NonNullable<T[K]>, Rest>}` }[keyof T &
      string]
  : never;

type NestedListPath<V, Rest extends readonly unknown[]> = V extends readonly (infer M)[]
  ? NonNullable<M> extends readonly unknown[]
    ? never
    : NonNullable<M> extends object
      ? ListPathOf<NonNullable<M>, Rest> | PathOf<NonNullable<M>, Rest>
      : never
  : V extends object
    ? ListPathOf<V, Rest>
    : never;

/** The fields that every stored document has besides its own. */
export type MetaField = "createdAt" | "id" | "updatedAt" | "version";

/** A path taken apart. */
export interface ParsedPath {
  /** The path as given. */
  readonly text: string;
  /** The names from the outermost object inwards. */
  readonly segments: readonly string[];
  /** Set when the path is one of the fields that the store keeps itself. */
  readonly meta: MetaField | undefined;
}

const maxSegments = 32;
const maxLength = 512;

/**
 * Takes a path apart at its dots.
 *
 * A name that itself contains a dot cannot be addressed by a path.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY` for a path that no document can have.
 */
export function parsePath(text: unknown): ParsedPath {
  if (typeof text !== "string") {
    throw queryError(`a field must be a string, got ${typeof text}`);
  }
  const segments = text.split(".");
  const reason = faultOfPath(text, segments);
  if (reason !== undefined) {
    const shown = text.slice(0, 64).toWellFormed();
    throw queryError(`${JSON.stringify(shown)} ${reason}`, shown);
  }
  return { text, segments, meta: isMetaField(text) ? text : undefined };
}

/** Tells whether a name is one of the fields that the store keeps itself. */
export function isMetaField(name: string): name is MetaField {
  return name === "id" || name === "version" || name === "createdAt" || name === "updatedAt";
}

/** Reads the value at a path, through objects only. */
export function valueAt(document: unknown, segments: readonly string[]): unknown {
  let value = document;
  for (const name of segments) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function faultOfPath(text: string, segments: readonly string[]): string | undefined {
  if (text.length > maxLength) return `is longer than ${maxLength} characters`;
  if (segments.length > maxSegments) return `has more than ${maxSegments} parts`;
  if (segments.includes("")) return "has an empty part, expected names joined by single dots";
  if (text.startsWith("$")) return 'begins with "$", which is reserved';
  if (text.includes("\0") || !text.isWellFormed()) return "is not well-formed text";
  return undefined;
}
