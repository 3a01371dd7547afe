import { checkDefinition, type CollectionDefinition, sameDefinition } from "../api/definition.ts";
import { DocumentsTypeError } from "../api/errors.ts";

/**
 * A collection that is in use.
 *
 * @internal
 */
export interface CollectionEntry<Table> {
  readonly table: Table;
  readonly handle: unknown;
}

/**
 * The collections of a store that are in use, each under one definition.
 *
 * @internal
 */
export class CollectionEntries<
  Table extends { readonly definition: CollectionDefinition<unknown> },
> {
  readonly #create: (definition: CollectionDefinition<object>) => CollectionEntry<Table>;
  readonly #entries = new Map<string, CollectionEntry<Table>>();

  constructor(create: (definition: CollectionDefinition<object>) => CollectionEntry<Table>) {
    this.#create = create;
  }

  /** All of them. */
  all(): Iterable<CollectionEntry<Table>> {
    return this.#entries.values();
  }

  /**
   * Finds a collection, or takes it into use.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when it is in use with another
   *   definition, or is given as something else.
   */
  of(definition: CollectionDefinition<object>): CollectionEntry<Table> {
    checkDefinition(definition);
    const known = this.#entries.get(definition.name);
    if (known === undefined) {
      const entry = this.#create(definition);
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
