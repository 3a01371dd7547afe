import { crc32 } from "node:zlib";
import type { Row } from "../../operation.ts";

/** Columns of a document's row that its checksum covers, in the order of {@link documentChecksum}, with it at the end. */
export function checkedColumns({ hasRemoved }: { readonly hasRemoved: boolean }): string {
  return `id, version, created_at, updated_at, ${hasRemoved ? "deleted_at" : "NULL"}, doc, checksum`;
}

/** Computes the checksum (CRC-32) of all that a reader sees of a document: id, version, times and text. */
export function documentChecksum(
  id: string,
  version: number,
  createdAt: string,
  updatedAt: string,
  deletedAt: string | null,
  text: string,
): number {
  return crc32(text, crc32(`${id}\n${version}\n${createdAt}\n${updatedAt}\n${deletedAt ?? ""}\n`));
}

/** Whether a row of {@link checkedColumns} is what was written. */
export function isIntact(row: Row): boolean {
  const [id, version, createdAt, updatedAt, deletedAt, doc, checksum] = row;
  // Documents from before there were checksums have none.
  if (checksum === null) return true;
  const text = String(doc);
  const removed = typeof deletedAt === "string" ? deletedAt : null;
  const times = [String(createdAt), String(updatedAt), removed] as const;
  if (documentChecksum(String(id), Number(version), ...times, text) === checksum) return true;
  // Files of the fourth format have that of the text.
  return crc32(text) === checksum;
}

/** Computes the checksum (CRC-32) of a record of the change feed, besides its position. */
export function changeChecksum(
  collection: string,
  id: string,
  kind: string,
  version: number,
  at: string,
  text: string | null,
): number {
  const fields = `${collection}\n${id}\n${kind}\n${version}\n${at}\n`;
  return crc32(text ?? "", crc32(text === null ? fields : `${fields}doc\n`));
}
