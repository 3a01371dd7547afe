import { validateFilePath } from "../files/file-path.ts";
import { AgentError } from "../errors.ts";
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
  /** Hears of each file that is there without its content. */
  readonly onUnread?: ((path: string) => void) | undefined;
}

/**
 * The text files of a folder by path; links and other folders' programs are left out. What is no UTF-8 text, or longer
 * than a file may be, is there without its content.
 */
export async function readProjectFiles(
  folder: ConfinedFolder,
  { maxFiles, onUnread }: ReadLimits,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const path of await folder.list({ skip: skipped, max: maxFiles * 4 })) {
    if (!validateFilePath(path).ok) continue;
    try {
      const bytes = await folder.readBytes(path);
      if (bytes === undefined) continue;
      const isText = !bytes.includes(0);
      files.set(path, isText ? decoder.decode(bytes) : "");
      if (!isText) onUnread?.(path);
    } catch (error) {
      // Not text: a picture, or another encoding; or too long. It exists, and nobody edits it.
      const isLong = error instanceof AgentError && error.code === "ERR_AGENT_LIMIT";
      if (!isLong && !(error instanceof TypeError)) throw error;
      files.set(path, "");
      onUnread?.(path);
    }
  }
  return files;
}
