import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, open, realpath, rename, unlink, type FileHandle } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { codeOf } from "../error-code.ts";
import { AgentError, checkFileBytes } from "../errors.ts";
import { validateFilePath } from "../files/file-path.ts";
import { makeFolder, makeFolders } from "./make-folders.ts";
import { openNoFollow } from "./open-no-follow.ts";

/** How a confined folder writes. */
export interface ConfinedFolderOptions {
  /** Maximum bytes of a file; those in `.fetchwork` are ours and may be longer. Default: 2 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** Whether the folder has to be there; else it is made. Default: `false`. */
  readonly mustExist?: boolean | undefined;
}

interface WriteOptions {
  readonly isNew?: boolean | undefined;
  readonly sync?: boolean | undefined;
  readonly like?: string | undefined;
}

/** Maximum bytes of a file of our own: the list of 20,000 files with their hashes has ten. */
const maxOwnBytes = 64 * 1024 * 1024;

/**
 * A folder in which files are read and written whole, and none outside of it: no symbolic link on
 * the way is followed, also not one that somebody puts there later. A file is written next to its
 * place, synced and renamed.
 *
 * On Linux each folder is opened by the one above it, so there is no moment between check and use.
 * Elsewhere the real path is compared before and after.
 */
export class ConfinedFolder {
  readonly root: string;
  readonly #maxFileBytes: number;

  private constructor(root: string, maxFileBytes: number) {
    this.root = root;
    this.#maxFileBytes = maxFileBytes;
  }

  /** Opens a folder, which is made where it does not exist. */
  static async open(
    folder: string,
    { maxFileBytes = 2 * 1024 * 1024, mustExist = false }: ConfinedFolderOptions = {},
  ): Promise<ConfinedFolder> {
    try {
      if (!mustExist) await makeFolders(resolve(folder));
      return new ConfinedFolder(await realpath(folder), maxFileBytes);
    } catch (cause) {
      const failed = mustExist ? "opened" : "made";
      const code = codeOf(cause);
      const reason = code === undefined ? "" : ` (${code})`;
      const message = `the folder ${folder} cannot be ${failed}${reason}`;
      throw new AgentError("ERR_AGENT_WRITE", message, { cause });
    }
  }

  /**
   * The text of a file, its byte order mark included; undefined when there is none. Bytes that are
   * not UTF-8 are replaced: such a text must not be written back. A link, a folder or a device is
   * an error.
   */
  async read(path: string): Promise<string | undefined> {
    const bytes = await this.readBytes(path);
    return bytes === undefined ? undefined : decodeText(bytes);
  }

  /** Whether there is a file, of any size. */
  async exists(path: string): Promise<boolean> {
    const found = await this.#inFolder(path, "look", async (folder, name) => {
      await lstat(join(folder, name));
      return true;
    });
    return found === true;
  }

  /** The bytes of a file; undefined when there is none. */
  async readBytes(path: string): Promise<Uint8Array | undefined> {
    return this.#inFolder(path, "look", async (folder, name) => {
      const flags = constants.O_RDONLY | constants.O_NONBLOCK;
      const file = await openNoFollow(join(folder, name), flags);
      try {
        const { size } = await this.#regular(file, path);
        this.#checkSize(path, size);
        return await file.readFile();
      } finally {
        await file.close();
      }
    });
  }

  /** Opens a file of ours that stays open, for reading and writing; makes it if it is missing. */
  async openOwn(path: string): Promise<FileHandle> {
    const { O_CREAT, O_NONBLOCK, O_RDWR } = constants;
    const file = await this.#inFolder(path, "make", (folder, name) =>
      openNoFollow(join(folder, name), O_CREAT | O_NONBLOCK | O_RDWR, { mode: 0o600 }),
    );
    if (file === undefined) throw unsafe(path, "it cannot be made");
    try {
      await this.#regular(file, path);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Makes an empty file of our own where there is none; one that is there is not opened. */
  async makeOwn(path: string): Promise<void> {
    await this.#inFolder(path, "make", async (folder, name) => {
      const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
      try {
        const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY;
        await (await open(join(folder, name), flags, 0o600)).close();
      } catch (error) {
        if (codeOf(error) !== "EEXIST") throw error;
        if (!(await lstat(join(folder, name))).isFile())
          throw unsafe(path, "it is not a regular file");
      }
    });
  }

  /**
   * Writes a file whole: afterwards its place has the old one or the new one. The permissions of
   * the old one stay. Where `isNew`, they are those of the file `like`, and a file that somebody
   * made since is `ERR_AGENT_CONFLICT`. Without `sync` it may be lost, or cut, by a crash.
   */
  async write(
    path: string,
    content: string | Uint8Array,
    { isNew = false, sync = true, like = "" }: WriteOptions = {},
  ): Promise<void> {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.#checkSize(path, bytes.byteLength);
    await this.#inFolder(path, "make", async (folder, name) => {
      const temporary = join(folder, temporaryOf(name));
      const place = join(folder, name);
      const old = await lstat(isNew ? join(this.root, like) : place).catch(() => undefined);
      const file = await openNew(temporary);
      try {
        try {
          if (old?.isFile() === true) await file.chmod(old.mode & 0o777);
          await file.writeFile(bytes);
          if (sync) await file.datasync();
        } finally {
          await file.close();
        }
        if (isNew) await putNew(temporary, place, path);
        else await rename(temporary, place);
      } catch (error) {
        await unlink(temporary).catch(() => undefined);
        throw error;
      }
      if (sync) await syncFolder(folder);
    });
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    await this.#inFolder(path, "look", async (folder, name) => {
      await unlink(join(folder, name));
      await syncFolder(folder);
    });
  }

  /** Takes away what a process left that was killed when the file was in its place already. */
  async clean(path: string): Promise<void> {
    await this.#inFolder(path, "look", (folder, name) => unlink(join(folder, temporaryOf(name))));
  }

  #checkSize(path: string, size: number): void {
    const max = path.startsWith(".fetchwork/")
      ? Math.max(maxOwnBytes, this.#maxFileBytes)
      : this.#maxFileBytes;
    checkFileBytes(path, size, max);
  }

  async #regular(file: FileHandle, path: string): Promise<{ readonly size: number }> {
    const status = await file.stat();
    if (!status.isFile()) throw unsafe(path, "it is not a regular file");
    return status;
  }

  async #inFolder<T>(
    path: string,
    purpose: "look" | "make",
    use: (folder: string, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    // Our own files lie in `.fetchwork`; everybody else's paths were checked against it before.
    const checked = validateFilePath(path, { isOurs: true });
    if (!checked.ok) throw unsafe(path, checked.reason);
    const segments = checked.path.split("/");
    const name = segments.pop() ?? "";
    try {
      return process.platform === "linux"
        ? await this.#throughHandles(segments, name, purpose, use)
        : await this.#throughRealPaths(segments, name, purpose, use);
    } catch (error) {
      if (error instanceof AgentError) throw error;
      const code = codeOf(error);
      if (purpose === "look" && code === "ENOENT") return undefined;
      if (code === "ELOOP" || code === "ENOTDIR") throw unsafe(path, "a link or a file is there");
      if (code === "EISDIR") throw unsafe(path, "a folder is in its place");
      throw new AgentError(
        "ERR_AGENT_WRITE",
        `${path} cannot be ${purpose === "look" ? "read" : "written"} (${String(code)})`,
        { path, cause: error },
      );
    }
  }

  /** `/proc/self/fd/N/name` is like `openat`: relative to the open folder, wherever it moved. */
  async #throughHandles<T>(
    segments: readonly string[],
    name: string,
    purpose: "look" | "make",
    use: (folder: string, name: string) => Promise<T>,
  ): Promise<T> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    let handle = await open(this.root, flags);
    try {
      for (const segment of segments) {
        const below = `/proc/self/fd/${handle.fd}/${segment}`;
        const next = await open(below, flags).catch(async (error: unknown) => {
          if (purpose !== "make" || codeOf(error) !== "ENOENT") throw error;
          await makeFolder(below);
          return open(below, flags);
        });
        await handle.close();
        handle = next;
      }
      return await use(`/proc/self/fd/${handle.fd}`, name);
    } finally {
      await handle.close();
    }
  }

  async #throughRealPaths<T>(
    segments: readonly string[],
    name: string,
    purpose: "look" | "make",
    use: (folder: string, name: string) => Promise<T>,
  ): Promise<T> {
    const path = [...segments, name].join("/");
    const folder = join(this.root, ...segments);
    const check = async (): Promise<void> => {
      const real = await realpath(folder);
      if (real !== folder || !`${real}${sep}`.startsWith(`${this.root}${sep}`)) {
        throw unsafe(path, "a link is there");
      }
    };
    const made = purpose === "make" ? segments.length : 0;
    for (let depth = 1; depth <= made; depth += 1) {
      const below = join(this.root, ...segments.slice(0, depth));
      await makeFolder(below);
      if ((await realpath(below)) !== below) throw unsafe(path, "a link is there");
    }
    await check();
    const result = await use(folder, name);
    await check();
    return result;
  }
}

function unsafe(path: string, reason: string): AgentError {
  const message = `${JSON.stringify(path.slice(0, 200))} is refused: ${reason}`;
  return new AgentError("ERR_AGENT_UNSAFE_PATH", message, { path });
}

/** Text of bytes; invalid UTF-8 is replaced. A byte order mark stays for writing. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The same name each time: what a killed process left is taken away by the next. */
function temporaryOf(name: string): string {
  return `.${createHash("sha256").update(name).digest("hex").slice(0, 16)}.fetchwork.tmp`;
}

async function openNew(temporary: string): Promise<FileHandle> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY;
  try {
    return await open(temporary, flags, 0o644);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    await unlink(temporary);
    return open(temporary, flags, 0o644);
  }
}

/** A link fails where a file is; renaming would replace it. */
async function putNew(temporary: string, place: string, path: string): Promise<void> {
  try {
    await link(temporary, place);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw madeSince(path);
    // Some disks have no hard links; the moment since it was looked for is short.
    if ((await lstat(place).catch(() => undefined)) !== undefined) throw madeSince(path);
    return rename(temporary, place);
  }
  await unlink(temporary);
}

function madeSince(path: string): AgentError {
  return new AgentError("ERR_AGENT_CONFLICT", `${path} was made by somebody else`, { path });
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
