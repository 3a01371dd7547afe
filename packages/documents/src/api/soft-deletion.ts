import type { Stored } from "./document.ts";
import type { Where } from "./where.ts";

/**
 * The documents to read of a collection that is defined with `softDelete`: those that were not
 * removed, only those that were removed, or both.
 */
export type Deleted = "exclude" | "include" | "only";

/** Selects documents to be removed for good. */
export interface PurgeSelection<T> {
  /** The filter. Default: every removed document. */
  readonly where?: Where<T> | undefined;
  /** Only those that were removed before this time, ISO 8601 in UTC. Default: at any time. */
  readonly deletedBefore?: string | undefined;
}

/**
 * Methods of a collection defined with `softDelete`. There, `remove` and `removeMany` keep the
 * document with the time in `deletedAt`. It is not found, counted or changed any more unless
 * `deleted` asks for it; its id stays taken, its unique fields are free at once.
 *
 * Every method rejects with `ERR_DOCUMENTS_DEFINITION` when the definition has no `softDelete`.
 */
export interface SoftDeletion<T> {
  /**
   * Brings a removed document back, with the next version; resolves to `undefined` when no removed
   * one has the id.
   *
   * @throws {UniqueError} When another document took one of its unique fields in the meantime.
   */
  restore(id: string): Promise<Stored<T> | undefined>;

  /** Removes a removed document for good; resolves to whether there was one. */
  purge(id: string): Promise<boolean>;

  /** Deletes removed documents for good, on SQLite in parts; resolves to their number. */
  purgeMany(selection?: PurgeSelection<T>): Promise<number>;
}
