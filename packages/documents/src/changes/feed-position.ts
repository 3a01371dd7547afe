import type { ChangeKind } from "../api/changes.ts";
import { queryError } from "../api/errors.ts";

const positionLength = 16;

/** Writes a place in the feed so that texts are in its order. */
export function writePosition(position: number): string {
  return String(position).padStart(positionLength, "0");
}

/**
 * Reads a place in the feed.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parsePosition(position: string): number {
  if (/^\d{16}$/.test(position) && Number.isSafeInteger(Number(position))) return Number(position);
  throw queryError('"after" is not a position of this feed', "after");
}

/** Tells whether a stored value says what happened to a document. */
export function isChangeKind(kind: unknown): kind is ChangeKind {
  return (
    kind === "insert" ||
    kind === "purge" ||
    kind === "remove" ||
    kind === "restore" ||
    kind === "update"
  );
}
