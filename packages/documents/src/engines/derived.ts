import { createHash } from "node:crypto";
import type { CollectionDefinition } from "../api/definition.ts";
import { DocumentsError } from "../api/errors.ts";
import { parsePath, valueAt } from "../api/field-path.ts";
import { DamagedError } from "../document/damaged-error.ts";
import { searchText } from "../document/search-text.ts";
import { toStored } from "../document/stored.ts";
import { isPlainObject } from "../is-plain-object.ts";
import type { Row } from "./operation.ts";

/**
 * Raised when `searchText` changes, so that search texts are made again. Earlier releases refuse
 * what has texts that they cannot derive.
 */
const foldVersion = 3;

/** Entries of the registry on data derived from a collection; null for none. */
export interface Derived {
  readonly search: string | null;
  readonly expires: string | null;
  readonly geo: string | null;
}

/** Returns what the registry says of a collection that is up to its definition. */
export function wantedDerived({
  search,
  expires,
  geo = [],
}: CollectionDefinition<unknown>): Derived {
  return {
    search: search.length === 0 ? null : JSON.stringify({ fold: foldVersion, fields: search }),
    expires: expires === undefined ? null : JSON.stringify([expires.field, expires.after ?? 0]),
    geo: geo.length === 0 ? null : JSON.stringify(geo),
  };
}

/** Entry of the registry on search texts, in parts. */
export interface ParsedSearch {
  /** Fields that are searched. */
  readonly fields: readonly string[];
  /** Derives the search text of a document. */
  readonly textOf: (stored: unknown) => string;
  /** Whether the fields of two documents have the same values, so that their texts are the same. */
  readonly isSame: (before: unknown, after: unknown) => boolean;
}

/**
 * Reads what the registry says of search texts.
 *
 * @throws {DocumentsError} `ERR_DOCUMENTS_OPEN` for texts that only another release can derive.
 */
export function parseSearch(derived: string): ParsedSearch {
  const value: unknown = JSON.parse(derived);
  const { fold, fields } = isPlainObject(value) ? value : {};
  if (fold !== foldVersion) {
    throw new DocumentsError(
      "ERR_DOCUMENTS_OPEN",
      `the store has search texts that another release derived, of version ${String(fold)}`,
    );
  }
  const names = Array.isArray(fields) ? fields.map(String) : [];
  const paths = names.map((field) => parsePath(field));
  const isSame = (before: unknown, after: unknown): boolean =>
    paths.every(({ segments }) => isEqual(valueAt(before, segments), valueAt(after, segments)));
  return { fields: names, textOf: (stored) => searchText(stored, paths), isSame };
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return typeof one === "object" && JSON.stringify(one) === JSON.stringify(other);
}

/**
 * One way of deriving search texts from the documents of a collection: which fields, and how they
 * are folded. Programs of several versions have one each, and all of them are kept up to date.
 */
export interface Generation extends ParsedSearch {
  /** Derived data, as the registry has it. */
  readonly derived: string;
  /** Suffix of the tables of search texts: empty for a single generation, else a hash. */
  readonly suffix: string;
}

/** Milliseconds without use by any program after which a generation is dropped: 7 days. */
export const unusedTime: number = 7 * 86_400_000;

/** How often a program notes that it uses its generations, in milliseconds: 1 hour. */
export const touchInterval = 3_600_000;

/** Describes a generation of the registry. */
export function describeGeneration(derived: string, suffix: string): Generation {
  return { derived, suffix, ...parseSearch(derived) };
}

/** Returns the suffix of a generation where another one has the empty suffix. */
export function hashOf(derived: string): string {
  return createHash("sha256").update(derived).digest("hex").slice(0, 12);
}

/**
 * Derives the text of a row; undefined for a damaged document. That is found by a check, and does
 * not end the building of all others.
 */
export function textOfRow(
  collection: string,
  row: Row,
  { textOf }: Pick<Generation, "textOf">,
): string | undefined {
  try {
    return textOf(toStored(collection, row));
  } catch (error) {
    if (error instanceof DamagedError) return undefined;
    throw error;
  }
}
