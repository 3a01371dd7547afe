import type { TokenHash } from "../token/token-hash.ts";

/**
 * Keeps tokens, under keys. A store that processes share has a `lock`: one of them refreshes a
 * token while the others wait for what it stores.
 */
export interface TokenStore {
  /** Returns what was stored last; `undefined` if nothing was. */
  get(key: string): TokenHash | undefined | Promise<TokenHash | undefined>;
  /** Stores a token; what was there before must stay whole until the new one is. */
  set(key: string, token: TokenHash): void | Promise<void>;
  /** Removes a token; nothing happens when there is none. */
  delete(key: string): void | Promise<void>;
  /** Runs work while holding the lock of the key. Default: nothing is locked. */
  lock?<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** A store in the memory of the process. */
export class MemoryTokenStore implements TokenStore {
  readonly #tokens = new Map<string, string>();
  readonly #locks = new Map<string, Promise<unknown>>();

  get(key: string): TokenHash | undefined {
    const text = this.#tokens.get(key);
    // Text that `set` wrote.
    return text === undefined ? undefined : (JSON.parse(text) as TokenHash);
  }

  set(key: string, token: TokenHash): void {
    this.#tokens.set(key, JSON.stringify(token));
  }

  delete(key: string): void {
    this.#tokens.delete(key);
  }

  async lock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#locks.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.then(ignore, ignore);
    this.#locks.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#locks.get(key) === settled) this.#locks.delete(key);
    }
  }
}

/** A caller that waits for the lock only wants to know that it is free. */
function ignore(): void {}
