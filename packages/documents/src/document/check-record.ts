import type { CollectionDefinition } from "../api/definition.ts";
import { InputError } from "../api/errors.ts";
import { isPossibleId } from "../query/targets.ts";
import { toJsonText } from "./json-text.ts";
import type { AppliedMigration, StoreStatus } from "../api/migration.ts";

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

/** A store as it is at one moment, whatever changes meanwhile. */
export interface Snapshot {
  /** What the store holds. */
  readonly status: StoreStatus;
  /**
   * Reads every document of a collection, removed and expired ones too, in the order of the ids
   * (by code point), behind the id `after` when it is given.
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
   * @throws {InputError} For a record that no store can have.
   * @throws {UniqueError} When a unique field or an id is taken.
   */
  add(definition: CollectionDefinition<object>, records: readonly DocumentRecord[]): Promise<void>;

  /** Notes that migrations ran; those that are noted already stay as they are. */
  noteMigrations(migrations: readonly AppliedMigration[]): Promise<void>;
}

/** A record, checked. */
export interface CheckedRecord extends Omit<DocumentRecord, "document"> {
  /** The JSON text of the caller's own fields. */
  readonly text: string;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Checks a record that comes from outside, such as from a file.
 *
 * @internal
 * @throws {InputError}
 */
export function checkRecord(
  { id, version, createdAt, updatedAt, deletedAt, document }: DocumentRecord,
  {
    reserved,
    softDelete,
  }: { readonly reserved: ReadonlySet<string>; readonly softDelete: boolean },
): CheckedRecord {
  if (typeof id !== "string" || !isPossibleId(id)) {
    throw new InputError("ERR_DOCUMENTS_ID", "The id of a record cannot be used", "id");
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw refused("version", "a whole number from 1");
  }
  if (!isTime(createdAt)) throw refused("createdAt", "a time in ISO 8601, in UTC");
  if (!isTime(updatedAt)) throw refused("updatedAt", "a time in ISO 8601, in UTC");
  if (deletedAt !== undefined && !(isTime(deletedAt) && softDelete)) {
    throw refused("deletedAt", 'a time in ISO 8601, in UTC, in a collection with "softDelete"');
  }
  return { id, version, createdAt, updatedAt, deletedAt, text: toJsonText(document, reserved) };
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function refused(field: string, expected: string): InputError {
  return new InputError("ERR_DOCUMENTS_VALUE", `"${field}" of a record is ${expected}`, field);
}
