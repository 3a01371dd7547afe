import { crc32 } from "node:zlib";
import type { Row } from "../../operation.ts";

/** Metadata of a document that a reader sees besides its fields. */
interface Meta {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly deletedAt: string | null;
}

/** Metadata of a change that a reader sees besides the document and its position. */
interface ChangeMeta {
  readonly collection: string;
  readonly id: string;
  readonly kind: string;
  readonly version: number;
  readonly at: string;
}

/** Columns that a row's checksum covers, in the order of {@link documentChecksum}. */
export function checkedColumns({ hasRemoved }: { readonly hasRemoved: boolean }): string {
  return `id, version, created_at, updated_at, ${hasRemoved ? "deleted_at" : "NULL"}, doc, checksum`;
}

/** Computes the CRC-32 of what readers see of a document: id, version, times, text. */
export function documentChecksum(
  { id, version, createdAt, updatedAt, deletedAt }: Meta,
  text: string,
): number {
  return crc32(text, crc32(`${id}\n${version}\n${createdAt}\n${updatedAt}\n${deletedAt ?? ""}\n`));
}

/** Whether a row of {@link checkedColumns} is what was written. */
export function isIntact(row: Row): boolean {
  const [id, version, createdAt, updatedAt, deletedAt, doc, checksum] = row;
  const meta = {
    id: String(id),
    version: Number(version),
    createdAt: String(createdAt),
    updatedAt: String(updatedAt),
    deletedAt: typeof deletedAt === "string" ? deletedAt : null,
  };
  return documentChecksum(meta, String(doc)) === checksum;
}

/** Computes the checksum (CRC-32) of a record of the change feed, besides its position. */
export function changeChecksum(
  { collection, id, kind, version, at }: ChangeMeta,
  text: string | null,
): number {
  const fields = `${collection}\n${id}\n${kind}\n${version}\n${at}\n`;
  return crc32(text ?? "", crc32(text === null ? fields : `${fields}doc\n`));
}

/** Returns what a row of {@link checkedColumns} becomes when its document is marked as removed. */
export function removedRow(
  row: Row,
  at: string,
): Omit<Meta, "createdAt" | "deletedAt"> & {
  readonly text: string;
  readonly checksum: Row[number];
} {
  const [id, version, createdAt, before, , doc, checksum = null] = row;
  const meta = {
    id: String(id),
    version: Number(version) + 1,
    updatedAt: String(before) > at ? String(before) : at,
  };
  const text = String(doc);
  // A damaged document must not become one whose checksum is right.
  const whole = { ...meta, createdAt: String(createdAt), deletedAt: at };
  return { ...meta, text, checksum: isIntact(row) ? documentChecksum(whole, text) : checksum };
}
