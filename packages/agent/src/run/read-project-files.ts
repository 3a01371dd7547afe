import { isScript } from "../check/parse-script.ts";
import { AgentError } from "../errors.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { listFiles, type FileList } from "../workspace/list-files.ts";

/** Limits of what is read. */
export interface ReadLimits {
  /** Four times as many are read; more are there without their contents. */
  readonly maxFiles: number;
  /** The files of the folder, where they are known. Default: they are listed. */
  readonly list?: FileList | undefined;
  /** Receives each file whose content is left out: not text, or too many files. */
  readonly onUnread?: ((path: string, reason: "content" | "count") => void) | undefined;
}

/** Files that the check reads, or that describe how the program is built. */
export function isSource(path: string): boolean {
  return isScript(path) || /\.(?:vue|json|css|html?)$/i.test(path);
}

/**
 * The text files of a program by path; what git ignores, links and other repositories are left out.
 * A file that is not UTF-8 text, or longer than a file may be, is there without its content.
 */
export async function readProjectFiles(
  folder: ConfinedFolder,
  { maxFiles, list, onUnread }: ReadLimits,
): Promise<ReadonlyMap<string, string>> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const { files: listed } = list ?? (await listFiles(folder.root));
  const files = new Map(listed.map(({ path }) => [path, ""]));
  // Sources come first: files that the check does not read are the first without room.
  const wanted = [...files.keys()].toSorted((a, b) => +isSource(b) - +isSource(a));
  for (const [index, path] of wanted.entries()) {
    try {
      const isRead = index < maxFiles * 4;
      const bytes = isRead ? await folder.readBytes(path) : undefined;
      if (bytes !== undefined && !bytes.includes(0)) files.set(path, decoder.decode(bytes));
      else onUnread?.(path, isRead ? "content" : "count");
    } catch (error) {
      // Not text: a picture, or another encoding; or too long. It exists, and nobody edits it.
      const isLong = error instanceof AgentError && error.code === "ERR_AGENT_LIMIT";
      if (!isLong && !(error instanceof TypeError)) throw error;
      onUnread?.(path, "content");
    }
  }
  return files;
}
