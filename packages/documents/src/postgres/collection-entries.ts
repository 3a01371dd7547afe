import { type CollectionDefinition, sameDefinition } from "../definition.ts";
import { DocumentsTypeError } from "../errors.ts";
import { createTable, type Table } from "./table.ts";

/** A collection that is in use. */
export interface CollectionEntry {
  readonly table: Table;
  readonly handle: unknown;
}

/** The collections of a store that are in use, each under one definition. */
export class CollectionEntries {
  readonly #createHandle: (table: Table) => unknown;
  readonly #entries = new Map<string, CollectionEntry>();

  constructor(createHandle: (table: Table) => unknown) {
    this.#createHandle = createHandle;
  }

  /** All of them. */
  all(): Iterable<CollectionEntry> {
    return this.#entries.values();
  }

  /**
   * Finds a collection, or takes it into use.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when it is in use with another definition.
   */
  of(definition: CollectionDefinition<object>): CollectionEntry {
    const known = this.#entries.get(definition.name);
    if (known === undefined) {
      const table = createTable(definition);
      const entry = { table, handle: this.#createHandle(table) };
      this.#entries.set(definition.name, entry);
      return entry;
    }
    if (sameDefinition(known.table.definition, definition)) return known;
    throw new DocumentsTypeError(
      "ERR_DOCUMENTS_DEFINITION",
      `The collection "${definition.name}" is in use with another definition`,
    );
  }
}
