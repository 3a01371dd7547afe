import type { DatabaseSync } from "node:sqlite";
import { documentChecksum } from "../src/engines/sqlite/statements/checksums.ts";

/**
 * Adds `checksum_of(id, version, created_at, updated_at, doc)`, for tests that fill a collection by
 * SQL.
 */
export function addChecksumFunction(database: DatabaseSync): void {
  database.function("checksum_of", { varargs: true }, (...row) => {
    const [id, version, createdAt, updatedAt, doc] = row;
    const meta = {
      id: String(id),
      version: Number(version),
      createdAt: String(createdAt),
      updatedAt: String(updatedAt),
      deletedAt: null,
    };
    return documentChecksum(meta, String(doc));
  });
}
