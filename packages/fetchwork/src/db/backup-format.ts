import type { AppliedMigration, CollectionDefinition, DocumentRecord } from "@fetchwork/documents";
import { isObject } from "@fetchwork/kit";
import { parseDefinition } from "./definitions.ts";

/** The first line of a backup. */
export interface BackupHeader {
  readonly format: "fetchwork-documents";
  readonly version: 1;
  /** When the snapshot was taken, ISO 8601. */
  readonly createdAt: string;
  /** The engine that it was taken of. */
  readonly engine: string;
  /** The definitions of the collections; only the name for a collection without a definition. */
  readonly collections: readonly CollectionDefinition<object>[];
  /** The migrations that ran. */
  readonly migrations: readonly AppliedMigration[];
}

/** The last line of a backup. */
export interface BackupTrailer {
  /** The number of documents. */
  readonly documents: number;
  /** The SHA-256 of every line before, with their ends. */
  readonly sha256: string;
}

/** A line between them. */
export interface BackupLine {
  readonly collection: string;
  readonly record: DocumentRecord;
}

/** The field names of the first line. */
export const FORMAT = "fetchwork-documents";

/** Reads the first line. */
export function parseHeader(line: string): BackupHeader {
  const value = parseObject(line);
  if (value["format"] !== FORMAT) throw new Error("the file is not a backup of fetchwork db");
  if (value["version"] !== 1)
    throw new Error("the backup has a newer format than this version of fetchwork reads");
  const { createdAt, engine, collections, migrations } = value;
  if (!Array.isArray(collections) || !Array.isArray(migrations)) {
    throw new Error("the first line of the backup is malformed");
  }
  return {
    format: FORMAT,
    version: 1,
    createdAt: String(createdAt),
    engine: String(engine),
    collections: collections.map((each) => parseDefinition(each)),
    migrations: migrations.map((each) => parseMigration(each)),
  };
}

/** Reads another line: a document, or the trailer. */
export function parseLine(line: string): BackupLine | BackupTrailer {
  const value = parseObject(line);
  const { sha256, documents, collection, ...record } = value;
  if (typeof sha256 === "string" && typeof documents === "number") return { sha256, documents };
  if (typeof collection !== "string" || typeof record["document"] !== "object") {
    throw new Error("invalid line in the backup: expected a document");
  }
  // The store checks each field when it takes the record.
  return { collection, record: record as unknown as DocumentRecord };
}

function parseMigration(value: unknown): AppliedMigration {
  const { id, name, at } = Object(value) as Record<string, unknown>;
  if (!Number.isSafeInteger(id) || typeof name !== "string" || typeof at !== "string") {
    throw new Error("malformed migration in the first line of the backup");
  }
  return { id: Number(id), name, at };
}

function parseObject(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The message of the parser quotes the line.
    throw new Error("invalid line in the backup: expected JSON");
  }
  if (!isObject(value)) throw new Error("invalid line in the backup: expected a JSON object");
  return value;
}
