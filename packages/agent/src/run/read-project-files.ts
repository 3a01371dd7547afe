import { validateFilePath } from "../files/file-path.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";

/** Folders that no program of ours is in. */
const skipped: ReadonlySet<string> = new Set([
  ".fetchwork",
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  "dist",
  "build",
  "coverage",
  ".cache",
  ".venv",
  "__pycache__",
]);

/** Limits of what is read. */
export interface ReadLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** The text files of a folder by path; links, other folders' programs and what is no UTF-8 text are left out. */
export async function readProjectFiles(
  folder: ConfinedFolder,
  { maxFiles }: ReadLimits,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const path of await folder.list({ skip: skipped, max: maxFiles * 4 })) {
    if (!validateFilePath(path).ok) continue;
    const bytes = await folder.readBytes(path);
    if (bytes === undefined || bytes.includes(0)) continue;
    try {
      files.set(path, decoder.decode(bytes));
    } catch {
      // Not text: a picture, or another encoding. It exists, and nobody edits it.
      files.set(path, "");
    }
  }
  return files;
}
