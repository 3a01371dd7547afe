import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DocumentsError } from "../../../api/errors.ts";

const ownerOnly = 0o600;

/**
 * Writes a file under a temporary name, and renames it when all of it is on the disk; never
 * replaces another file.
 */
export async function writeWhole(
  path: string,
  write: (to: string) => Promise<void>,
): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    closeSync(openSync(part, "wx", ownerOnly));
    await write(part);
    sync(part);
    linkSync(part, path);
    sync(dirname(path));
  } catch (error) {
    if (error instanceof DocumentsError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DocumentsError("ERR_DOCUMENTS_OPEN", `cannot write ${path}: ${reason}`, {
      cause: error,
    });
  } finally {
    rmSync(part, { force: true });
  }
}

function sync(path: string): void {
  // A folder cannot be opened on Windows, where the name is on the disk with the file.
  if (process.platform === "win32" && !path.endsWith(".part")) return;
  // Windows writes to the disk only what was opened to be written.
  const descriptor = openSync(path, path.endsWith(".part") ? "r+" : "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
