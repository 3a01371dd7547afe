import type { DocumentRecord } from "../api/transfer.ts";
import { parseJsonText } from "./json-text.ts";

/** A record with the size of its text. */
export interface SizedRecord {
  readonly record: DocumentRecord;
  /** The length of the document's text. */
  readonly size: number;
}

/**
 * Makes the record of a row: the id, the version, both times, the JSON text, and the time of the
 * removal of a document that was removed.
 */
export function recordOf(row: readonly unknown[]): SizedRecord {
  const [id, version, createdAt, updatedAt, text, deletedAt] = row;
  const record: DocumentRecord = {
    id: String(id),
    version: Number(version),
    createdAt: String(createdAt),
    updatedAt: String(updatedAt),
    ...(typeof deletedAt === "string" ? { deletedAt } : {}),
    document: parseJsonText(String(text)),
  };
  return { record, size: String(text).length };
}

/** Documents may have 16 MiB each, so the first page is small, and later ones as large as fits. */
const firstPage = 10;
const largestPage = 1000;
const pageSize = 4 * 1024 * 1024;

/**
 * Reads records page after page, as many at a time as memory easily holds.
 *
 * @yields Each record.
 */
export async function* recordPages(
  read: (after: string, limit: number) => Promise<readonly SizedRecord[]>,
  after: string,
): AsyncGenerator<DocumentRecord> {
  let limit = firstPage;
  for (let last = after; ;) {
    const page = await read(last, limit);
    for (const { record } of page) yield record;
    if (page.length < limit) return;
    last = page.at(-1)?.record.id ?? last;
    const size = page.reduce((sum, entry) => sum + entry.size, 0);
    limit = Math.max(1, Math.min(largestPage, Math.trunc((pageSize * page.length) / (size + 1))));
  }
}
