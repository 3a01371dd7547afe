import { createHash, randomUUID } from "node:crypto";
import {
  constants,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
} from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { TokenHash } from "../token/token-hash.ts";
import { TokenStoreError } from "../errors.ts";
import { parseJsonRecord } from "../json-record.ts";
import {
  LostLockError,
  readLease,
  waitForLease,
  type Lease,
  type LeaseOptions,
} from "../store/lease.ts";
import type { TokenStore } from "../store/token-store.ts";
import { retryBusy } from "./retry-busy.ts";

/**
 * A store in a folder, one file per key, which processes of one machine share. Only their owner can
 * read the files. They are replaced as a whole, after the new content is on the disk: a killed
 * process leaves either the old token or the new one. Links and files of other users are not read.
 * Tokens are not encrypted.
 */
export class FileTokenStore implements TokenStore {
  readonly #folder: string;
  readonly #lease: Lease;
  /** Locks of this store, by path: the content of the lock, and the token stored at that time. */
  readonly #held = new Map<
    string,
    { readonly holder: string; readonly before: string | undefined }
  >();

  /** @throws OAuth2UsageError `ERR_OAUTH_OPTION` */
  constructor(folder: string, options: LeaseOptions = {}) {
    this.#folder = folder;
    this.#lease = readLease("FileTokenStore", options, 30_000);
  }

  async get(key: string): Promise<TokenHash | undefined> {
    try {
      return parse(await readOwn(this.#path(key)));
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      if (error instanceof TokenStoreError) throw error;
      throw new TokenStoreError("a token cannot be read", { cause: error });
    }
  }

  async set(key: string, token: TokenHash): Promise<void> {
    const path = this.#path(key);
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await using file = await open(temporary, "wx", 0o600);
      await file.writeFile(JSON.stringify(token));
      await file.sync();
      await this.#checkLock(path);
      await retryBusy(() => rename(temporary, path));
      await syncFolder(this.#folder);
    } catch (error) {
      // A file that cannot be removed either is removed under a later lock.
      await rm(temporary, { force: true }).catch(() => {});
      if (error instanceof LostLockError) throw error;
      throw new TokenStoreError("a token cannot be stored", { cause: error });
    }
  }

  async delete(key: string): Promise<void> {
    try {
      await remove(this.#path(key));
    } catch (error) {
      throw new TokenStoreError("a token cannot be removed", { cause: error });
    }
  }

  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const token = this.#path(key);
    const path = `${token}.lock`;
    const holder = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() });
    await makeFolder(this.#folder);
    await waitForLease(() => this.#acquire(path, holder), this.#lease.lockTimeout);
    const alive = setInterval(() => {
      const now = new Date();
      // A lock that is gone is found out at its release.
      utimes(path, now, now).catch(() => {});
    }, this.#lease.leaseTime / 3);
    alive.unref();
    try {
      this.#held.set(token, { holder, before: await contentOf(token) });
      await this.#removeLeftovers(key);
      return await work();
    } finally {
      clearInterval(alive);
      if (this.#held.get(token)?.holder === holder) this.#held.delete(token);
      if ((await contentOf(path)) === holder) await remove(path);
    }
  }

  /** A process that was stopped past its lease must not overwrite its successor's data. */
  async #checkLock(path: string): Promise<void> {
    const held = this.#held.get(path);
    if (held === undefined || (await contentOf(`${path}.lock`)) === held.holder) return;
    if ((await contentOf(path)) === held.before) return;
    throw new LostLockError("another process took over the lock, and has stored another token");
  }

  async #acquire(path: string, holder: string): Promise<boolean> {
    if (await create(path, holder)) return true;
    const current = await contentOf(path);
    if (current === undefined) return false;
    if (!isDead(current) && !(await isOlder(path, this.#lease.leaseTime))) return false;
    // One of all who find it abandoned removes it; and only if it still is the one that was looked
    // at.
    const removal = `${path}.removal`;
    if (!(await create(removal, holder))) {
      if (await isOlder(removal, this.#lease.leaseTime)) await remove(removal);
      return false;
    }
    try {
      if ((await contentOf(path)) === current) await remove(path);
    } finally {
      await remove(removal);
    }
    return create(path, holder);
  }

  /** Removes what processes that were killed while they wrote have left. */
  async #removeLeftovers(key: string): Promise<void> {
    const name = nameOf(key);
    for (const entry of await readdir(this.#folder)) {
      if (!entry.startsWith(`${name}.`) || !entry.endsWith(".tmp")) continue;
      const path = join(this.#folder, entry);
      if (await isOlder(path, this.#lease.leaseTime)) await remove(path);
    }
  }

  #path(key: string): string {
    return join(this.#folder, nameOf(key));
  }
}

/** Keys may be any text, names of files not. */
function nameOf(key: string): string {
  const readable = key.replace(/[^A-Za-z\d-]+/g, "-").slice(0, 40);
  return `${readable}-${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`;
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new TokenStoreError("the folder of the tokens cannot be made", { cause: error });
  }
}

/** Reads a file unless another user may own it: a link, or a foreign file in a shared folder. */
async function readOwn(path: string): Promise<string> {
  // Windows has neither of the last two, and `|` takes what is not there for 0.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const { uid } = await file.stat();
  const own = process.getuid?.() ?? uid;
  if (uid !== own && own !== 0) {
    throw new TokenStoreError("the file of a token belongs to another user");
  }
  return await file.readFile("utf8");
}

function parse(text: string): TokenHash {
  const token = parseJsonRecord(text);
  // Without the parser's error, which quotes the text.
  if (token === undefined) throw new TokenStoreError("the file of a token is damaged");
  return token;
}

function remove(path: string): Promise<void> {
  return retryBusy(() => rm(path, { force: true }));
}

async function create(path: string, content: string): Promise<boolean> {
  try {
    // A file that was just removed keeps its name on Windows while somebody reads it.
    await using file = await retryBusy(() => open(path, "wx", 0o600));
    // On a full disk everybody would wait for an empty one.
    await file.writeFile(content).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw new TokenStoreError("the lock of a token cannot be taken", { cause: error });
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

async function isOlder(path: string, milliseconds: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > milliseconds;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** Whether the process that has a lock is known to be gone: of this machine, and ended. */
function isDead(content: string): boolean {
  const { pid, host } = parseHolder(content);
  if (host !== hostname() || pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, "ESRCH");
  }
}

function parseHolder(content: string): { readonly pid?: number; readonly host?: string } {
  // Nothing while its holder is about to write it, or was killed in between; then it grows old.
  const { pid, host } = parseJsonRecord(content) ?? {};
  return typeof pid === "number" ? { pid, host: String(host) } : {};
}

/** Makes a rename survive a crash of the machine, where folders can be opened. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  await using handle = await open(folder, "r");
  await handle.sync();
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
