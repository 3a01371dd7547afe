import { InputError } from "../api/errors.ts";
import type { DocumentRecord } from "../api/transfer.ts";
import { isPossibleId } from "./id.ts";
import { toJsonText } from "./json-text.ts";

/** A record, checked. */
export interface CheckedRecord extends Omit<DocumentRecord, "document"> {
  /** The JSON text of the caller's own fields. */
  readonly text: string;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Checks a record that comes from outside, such as from a file.
 *
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
    throw new InputError("ERR_DOCUMENTS_ID", "the id of a record is invalid", "id");
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
  return typeof value === "string" && timePattern.test(value) && !Number.isNaN(Date.parse(value));
}

function refused(field: string, expected: string): InputError {
  return new InputError("ERR_DOCUMENTS_VALUE", `"${field}" of a record must be ${expected}`, field);
}
