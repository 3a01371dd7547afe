import type { CollectionDefinition } from "../definition.ts";
import { type ParsedPath, parsePath } from "../field-path.ts";
import { quoteName } from "./sql.ts";

/** The tables of a collection. */
export interface Table {
  /** What the collection was defined as. */
  readonly definition: CollectionDefinition<unknown>;
  /** The name of the documents' table, quoted. */
  readonly quoted: string;
  /** The name of the search table, quoted. */
  readonly quotedSearch: string;
  /** The fields that have an index. */
  readonly indexed: ReadonlySet<string>;
  /** The fields that the search table holds. */
  readonly searchPaths: readonly ParsedPath[];
}

/**
 * Names the tables of a collection. No collection has a colon in its name, so no two of these names
 * meet, those that FTS5 derives from the second one included.
 */
export function createTable(definition: CollectionDefinition<unknown>): Table {
  return {
    definition,
    quoted: quoteName(definition.name),
    quotedSearch: quoteName(`${definition.name}:search`),
    indexed: new Set([...definition.unique, ...definition.indexes].flat()),
    searchPaths: definition.search.map((field) => parsePath(field)),
  };
}
