import type { CollectionDefinition } from "./definition.ts";
import type { AppliedMigration, StoreStatus } from "./migration.ts";

/** A document with everything that the store keeps of it. */
export interface DocumentRecord {
  /** The identity. */
  readonly id: string;
  /** The version, from 1. */
  readonly version: number;
  /** The time of the insert, ISO 8601 in UTC with milliseconds. */
  readonly createdAt: string;
  /** The time of the last change, ISO 8601 in UTC with milliseconds. */
  readonly updatedAt: string;
  /** When the document was removed, for one that is kept until it is purged. */
  readonly deletedAt?: string | undefined;
  /** The caller's own fields. */
  readonly document: object;
}

/** A store as it is at one moment, whatever changes after it. */
export interface Snapshot {
  /** Content of the store. */
  readonly status: StoreStatus;
  /**
   * Reads every document of a collection in the order of the ids by code point, removed and expired
   * ones too. It starts after the id `after` when it is set.
   */
  readonly records: (
    collection: string,
    options?: { readonly after?: string | undefined },
  ) => AsyncIterable<DocumentRecord>;
}

/** Puts documents into a store as they were in another one. */
export interface Loading {
  /**
   * Adds documents with their ids, versions and times. Nothing is written to the feed of changes.
   *
   * @throws {InputError} For an invalid record.
   * @throws {UniqueError} When a unique field or an id is taken.
   */
  add(definition: CollectionDefinition<object>, records: readonly DocumentRecord[]): Promise<void>;

  /** Notes that migrations ran; those that are noted already stay as they are. */
  noteMigrations(migrations: readonly AppliedMigration[]): Promise<void>;

  /** Removes the note that a migration ran, after all that it did was undone. */
  forgetMigration(id: number): Promise<void>;
}
