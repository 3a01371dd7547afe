import type { Change, Stored } from "../document.ts";
import type { Where } from "../where.ts";

/** The documents to change, and how. */
export interface ManyChanges<T> {
  /** The filter; `{}` selects every document. */
  readonly where: Where<T>;
  /** Fields to merge into each document, or a function that returns them, as in `update`. */
  readonly change: Change<T> | ((stored: Stored<T>) => Change<T>);
}

/** Changes many documents. */
export interface UpdatingMany<T> {
  /**
   * Changes every document that the filter matches, each at most once; resolves to their number.
   *
   * The documents are looked for first, and changed in parts of 250 that are durable one by one. So
   * nobody waits for long: others see some changed, and what fails leaves the rest as it was. A
   * document that no longer matches when its turn comes stays as it is. One that matches later is
   * not looked for. In a transaction it is all or none.
   *
   * @throws {UniqueError} When a unique field is taken.
   */
  updateMany(changes: ManyChanges<T>): Promise<number>;
}
