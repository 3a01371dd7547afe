import type { TokenHash } from "../token/token-hash.ts";
import { TokenStoreError } from "../errors.ts";
import { LostLockError, readLease, waitForLease, type Lease, type LeaseOptions } from "./lease.ts";
import { parseJsonRecord } from "../json-record.ts";
import type { TokenStore } from "./token-store.ts";

/** A document of a {@link DocumentTokenStore}: a token as JSON, or a lock. */
export interface TokenDocument {
  /** The token as JSON. */
  token?: string;
  /** The holder of the lock. */
  holder?: string;
  /** Until when, in milliseconds since the epoch. */
  until?: number;
}

/** A version of a document, and when it was added: its id may be used again. */
interface TokenVersion {
  readonly version: number;
  readonly createdAt: string;
}

/** The part of a `@fetchwork/documents` collection that a {@link DocumentTokenStore} needs. */
export interface TokenCollection {
  get(id: string): Promise<(TokenDocument & TokenVersion) | undefined>;
  insert(document: TokenDocument, options: { readonly id: string }): Promise<unknown>;
  replace(
    id: string,
    document: TokenDocument,
    options?: { readonly ifVersion?: TokenVersion },
  ): Promise<unknown>;
  remove(id: string, options?: { readonly ifVersion?: TokenVersion }): Promise<boolean>;
}

/** A store in a collection, which any number of processes share. Tokens are not encrypted. */
export class DocumentTokenStore implements TokenStore {
  readonly #collection: TokenCollection;
  readonly #lease: Lease;
  /** Locked tokens as they were then: a lost lock must not overwrite newer tokens. */
  readonly #locked = new Map<string, TokenVersion | undefined>();

  /** @throws OAuth2UsageError `ERR_OAUTH_OPTION` */
  constructor(collection: TokenCollection, options: LeaseOptions = {}) {
    this.#collection = collection;
    this.#lease = readLease("DocumentTokenStore", options, 60_000);
  }

  async get(key: string): Promise<TokenHash | undefined> {
    const document = await this.#read(await idOf(key));
    if (document?.token === undefined) return undefined;
    const token = parseJsonRecord(document.token);
    if (token === undefined) throw new TokenStoreError("the document of a token is damaged");
    return token;
  }

  async set(key: string, token: TokenHash): Promise<void> {
    const id = await idOf(key);
    const document = { token: JSON.stringify(token) };
    for (;;) {
      const isLocked = this.#locked.has(id);
      const before = isLocked ? this.#locked.get(id) : await this.#read(id);
      this.#locked.delete(id);
      if (await this.#write(id, document, before)) return;
      if (!isLocked) continue;
      throw new LostLockError("another process took over the lock, and has stored another token");
    }
  }

  async delete(key: string): Promise<void> {
    await this.#collection.remove(await idOf(key));
  }

  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const id = await idOf(key);
    const lock = `${id}.lock`;
    const holder = crypto.randomUUID();
    await waitForLease(() => this.#acquire(lock, holder), this.#lease.lockTimeout);
    try {
      this.#locked.set(id, await this.#read(id));
      return await work();
    } finally {
      this.#locked.delete(id);
      await this.#release(lock, holder);
    }
  }

  async #acquire(id: string, holder: string): Promise<boolean> {
    const before = await this.#read(id);
    if ((before?.until ?? 0) > Date.now()) return false;
    return this.#write(id, { holder, until: Date.now() + this.#lease.leaseTime }, before);
  }

  async #read(id: string): Promise<(TokenDocument & TokenVersion) | undefined> {
    try {
      return await this.#collection.get(id);
    } catch (error) {
      throw new TokenStoreError("a token cannot be read", { cause: error });
    }
  }

  /** Resolves to whether nobody else was faster. */
  async #write(id: string, document: TokenDocument, before?: TokenVersion): Promise<boolean> {
    try {
      if (before !== undefined) {
        return (await this.#collection.replace(id, document, { ifVersion: before })) !== undefined;
      }
      await this.#collection.insert(document, { id });
      return true;
    } catch (error) {
      if (isTaken(error)) return false;
      throw new TokenStoreError("a token cannot be stored", { cause: error });
    }
  }

  async #release(id: string, holder: string): Promise<void> {
    const current = await this.#collection.get(id);
    if (current?.holder !== holder) return;
    try {
      await this.#collection.remove(id, { ifVersion: current });
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
}

/** Whether another process was faster. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_DOCUMENTS_UNIQUE" || error.code === "ERR_DOCUMENTS_VERSION";
}

/** Keys may be any text, identifiers not. */
async function idOf(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
