import type { CollectionDefinition } from "../../api/definition.ts";
import { type ParsedPath, parsePath } from "../../api/field-path.ts";
import type { Deleted } from "../../api/soft-deletion.ts";
import { createExpiry } from "../../document/expiry.ts";
import type { Cell } from "./connection.ts";
import { DOCUMENT_COLUMNS } from "./row.ts";
import { quoteName } from "./sql.ts";

/** The tables of a collection. */
export interface Table {
  /** What the collection was defined as. */
  readonly definition: CollectionDefinition<unknown>;
  /** The name of the documents' table, quoted. */
  readonly quoted: string;
  /** The name of the search table, quoted. */
  readonly quotedSearch: string;
  /** The name of the table of places, quoted. */
  readonly quotedGeo: string;
  /** The fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  /** The fields that the search table holds. */
  readonly searchPaths: readonly ParsedPath[];
  /** The fields that the table of places holds. */
  readonly geoPaths: readonly ParsedPath[];
  /** The columns that make up a document: those of every one, and `deleted_at` where it exists. */
  readonly columns: string;
  /** Whether removed documents are kept. */
  readonly softDelete: boolean;
  /** Top-level fields that documents of this collection may not have, besides the usual ones. */
  readonly reserved: ReadonlySet<string>;
  /** Tells when a document expires, in collections where any does. */
  readonly expiresAt: ((stored: unknown) => number | null) | undefined;
}

/** Binds a value to the statement that is being written. */
export type Bind = (value: Cell) => string;

/**
 * Names the tables of a collection. No collection has a colon in its name, so no two of these names
 * meet, those that FTS5 derives from the second one included.
 */
export function createTable(definition: CollectionDefinition<unknown>): Table {
  const { geo = [], softDelete = false, expires } = definition;
  return {
    definition,
    quoted: quoteName(definition.name),
    quotedSearch: quoteName(`${definition.name}:search`),
    quotedGeo: quoteName(`${definition.name}:geo`),
    indexed: new Set([...definition.unique, ...definition.indexes].flat()),
    searchPaths: definition.search.map((field) => parsePath(field)),
    geoPaths: geo.map((field) => parsePath(field)),
    columns: `${DOCUMENT_COLUMNS}, ${softDelete ? "deleted_at" : "NULL"}`,
    softDelete,
    reserved: new Set(softDelete ? ["deletedAt"] : []),
    expiresAt: expires === undefined ? undefined : createExpiry(expires),
  };
}

/** Writes what makes a row of the table one that can be seen, as terms to be joined by AND. */
export function visibleTerms(
  table: Table,
  { deleted, bind }: { readonly deleted: Deleted; readonly bind: Bind },
): readonly string[] {
  const terms: string[] = [];
  if (table.softDelete && deleted === "exclude") terms.push("deleted_at IS NULL");
  if (deleted === "only") terms.push(table.softDelete ? "deleted_at IS NOT NULL" : "FALSE");
  if (table.expiresAt !== undefined) {
    terms.push(`(expires_at IS NULL OR expires_at > ${bind(Date.now())})`);
  }
  return terms;
}
