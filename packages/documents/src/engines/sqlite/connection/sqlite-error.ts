import { DocumentsError, UniqueError } from "../../../api/errors.ts";
import { DamagedError } from "../../../document/damaged-error.ts";

// https://sqlite.org/rescode.html
const busyCode = 5;
const lockedCode = 6;
const readonlyCode = 8;
const fullCode = 13;
const cantOpenCode = 14;
/** The shared memory of the log, which is a file, did not get the room that it needs. */
const sharedMemorySizeCode = 4874;
const constraintPrimarykey = 1555;
const constraintUnique = 2067;

/** Reads the extended result code of an error of `node:sqlite`. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}

/** Tells whether an error says that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const primary = (resultCode(error) ?? 0) & 0xff;
  return primary === busyCode || primary === lockedCode;
}

/** Turns an error of `node:sqlite` into one of this package; passes every other one on. */
export function toDocumentsError(error: unknown): unknown {
  const code = resultCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  if (code === constraintUnique || code === constraintPrimarykey) {
    const unique = toUniqueError(error);
    if (unique !== undefined) return unique;
  }
  if (isBusy(error)) {
    return new DocumentsError("ERR_DOCUMENTS_BUSY", "another process is writing to the store", {
      cause: error,
    });
  }
  if ((code & 0xff) === fullCode || code === sharedMemorySizeCode) {
    const message = `the disk of the store is full: ${error.message}`;
    return new DocumentsError("ERR_DOCUMENTS_FULL", message, { cause: error });
  }
  const message = `SQLite failed with the code ${code}: ${explain(error)}`;
  return new DocumentsError("ERR_DOCUMENTS_ENGINE", message, { cause: error });
}

/** Returns an error's message, with a remedy where file permissions are the cause. */
export function explain(error: Error): string {
  const primary = (resultCode(error) ?? 0) & 0xff;
  return primary === readonlyCode || primary === cantOpenCode
    ? `${error.message}; the file and its folder must be readable and writable`
    : error.message;
}

const engineFailures: ReadonlySet<string> = new Set([
  "ERR_DOCUMENTS_BUSY",
  "ERR_DOCUMENTS_ENGINE",
  "ERR_DOCUMENTS_FULL",
]);

/** Tells whether an error leaves the state of the surrounding transaction in doubt. */
export function isEngineFailure(error: unknown): error is DocumentsError {
  return (
    error instanceof DocumentsError &&
    !(error instanceof DamagedError) &&
    engineFailures.has(error.code)
  );
}

/**
 * The name of a collection's unique index, from which {@link toUniqueError} reads the fields. The
 * index of `live` documents leaves out those that were removed and are kept.
 */
export function uniqueIndexName(
  { collection, live }: { readonly collection: string; readonly live: boolean },
  fields: readonly string[],
): string {
  return `${collection}:unique${live ? "-live" : ""}:${JSON.stringify(fields)}`;
}

function toUniqueError(error: Error): UniqueError | undefined {
  const index = /: index '([^:]+):unique(?:-live)?:(\[.*\])'$/s.exec(error.message);
  if (index?.[1] !== undefined && index[2] !== undefined) {
    // SQLite doubles the single quotes of the name in its message.
    const fields: unknown = JSON.parse(index[2].replaceAll("''", "'"));
    const names = Array.isArray(fields) ? fields.map(String) : [];
    return new UniqueError(index[1], names, { cause: error });
  }
  const columns = [...error.message.matchAll(/([\w-]+)\.(id|created_at|updated_at|version)\b/g)];
  const collection = columns[0]?.[1];
  if (collection === undefined) return undefined;
  const fields = columns.map(([, , column = ""]) => fieldOfColumn.get(column) ?? column);
  return new UniqueError(collection, fields, { cause: error });
}

const fieldOfColumn: ReadonlyMap<string, string> = new Map([
  ["created_at", "createdAt"],
  ["updated_at", "updatedAt"],
]);
