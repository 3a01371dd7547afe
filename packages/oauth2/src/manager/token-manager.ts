import { pause } from "@fetchwork/kit";
import { AccessToken, type TokenClient } from "../token/access-token.ts";
import {
  optionError,
  TokenStoreError,
  TokenUnavailableError,
  type OAuth2Error,
} from "../errors.ts";
import type { TokenHash } from "../token/token-hash.ts";
import { raceSignal, within } from "./race-signal.ts";
import { isInvalidGrant, isTemporary, TokenPause } from "./token-pause.ts";
import { LostLockError } from "../store/lease.ts";
import { MemoryTokenStore, type TokenStore } from "../store/token-store.ts";
import { checkOptions, checkTypes } from "../check-options.ts";

/** A token younger than this, in ms, is not renewed when a resource refuses it. */
const youngAge = 5000;

/** Seconds before its expiry from which a token is renewed, at most a quarter of its lifetime. */
const refreshBefore = 30;

/** Maximum wait for the lock of a store, in milliseconds; longer than our stores' lockTimeout. */
const lockLimit = 120_000;

/** Options of {@link TokenManager}. */
export interface TokenManagerOptions {
  /** Where the token is stored. Default: in memory. */
  readonly store?: TokenStore | undefined;
  /** Key in the store; one per user and provider. Default: `default`. */
  readonly key?: string | undefined;
  /**
   * Obtains the first token, and another when there is no refresh token or the server refuses it:
   * for grants that need no user, such as client credentials. Default: none.
   */
  readonly grant?: (() => Promise<AccessToken>) | undefined;
  /** Called with each new token after it is stored, before anybody gets it. Default: none. */
  readonly onChange?:
    ((token: AccessToken, previous: AccessToken | undefined) => void | Promise<void>) | undefined;
}

/** Options of {@link TokenManager.getToken}. */
export interface GetTokenOptions {
  /** A token that a resource refused: another one is wanted. Default: none. */
  readonly refused?: AccessToken | undefined;
  /** Seconds that the token must be good for. Default: 0. */
  readonly minValidity?: number | undefined;
  /** Ends the wait of this caller, and of no other. Default: none. */
  readonly signal?: AbortSignal | null | undefined;
  /**
   * Signs a user in, where there is no token and no other way to get one: none is stored, or its
   * refresh token is missing or was refused. Callers at the same time share one sign-in, whose
   * token is stored. A server that is not reached is an error as without it. Default: none, such a
   * call rejects.
   */
  readonly orElse?: (() => Promise<AccessToken>) | undefined;
}

/**
 * Keeps one token fresh. However many callers ask, and however many processes share the store, an
 * expired token is refreshed once; a new one is stored before anybody gets it. That is done half a
 * minute before the expiry; if it fails while the token is still good, the old one is given. A
 * refresh token that the server refused (`invalid_grant`) is not sent again, unless it is set
 * again. A token request that failed is followed by none until the time of the server's `Retry-
 * After`, at most a minute. Else the pause is 100 ms, doubled with each failure up to 30 s.
 * Callers wait for the next request if the failure may pass: no connection, or a status of 408,
 * 429, or 500 and above. Their signal ends the wait, or the `timeout` of the client's connection;
 * else they get the same error. A token that had expired on arrival is returned for as long. A
 * token that this manager requested less than 5 s ago is not renewed because a resource refused
 * it.
 *
 * @example
 * ```ts
 * const manager = new TokenManager(client, { grant: () => client.clientCredentials.getToken() });
 * const api = authorizedFetch(manager);
 * const response = await api("/items");
 * ```
 */
export class TokenManager {
  readonly #client: TokenClient;
  readonly #store: TokenStore;
  readonly #key: string;
  readonly #options: TokenManagerOptions;
  #current: AccessToken | undefined;
  /** A token that the store did not take, and the one that the store had, if that is known. */
  #unsaved: { readonly token: AccessToken; readonly over?: string | undefined } | undefined;
  #flight: (GetTokenOptions & { readonly token: Promise<AccessToken> }) | undefined;
  /** A refresh token that the server refused for good; some servers take its use for theft. */
  #refusal: { readonly refreshToken: string; readonly error: OAuth2Error } | undefined;
  readonly #pause: TokenPause;
  /** The token that was requested last, and when by the monotonic clock. */
  #requested: { readonly token: string; readonly at: number } | undefined;
  #signIn: Promise<AccessToken> | undefined;
  /** Counts begins and ends of `set` and `clear`, which what is under way must not undo. */
  #epoch = 0;

  /** @throws OAuth2UsageError `ERR_OAUTH_OPTION` */
  constructor(client: TokenClient, options: TokenManagerOptions = {}) {
    checkOptions("TokenManager", options, ["store", "key", "grant", "onChange"]);
    const { store = new MemoryTokenStore(), key = "default" } = options;
    checkTypes("function", { grant: options.grant, onChange: options.onChange });
    if (typeof store?.get !== "function") throw optionError("store", typeof store, "a TokenStore");
    this.#client = client;
    this.#store = store;
    this.#key = key;
    this.#options = options;
    this.#pause = new TokenPause(client.clock);
  }

  /** The client whose tokens these are. */
  get client(): TokenClient {
    return this.#client;
  }

  /** Returns the token if it is at hand and fresh, without a request. */
  peek(): AccessToken | undefined {
    const current = this.#current;
    return current !== undefined && this.#isFresh(current, 0) ? current : undefined;
  }

  /**
   * Whether somebody is signed in: `getToken` would return a token, or ask the server for one,
   * without a user. Asks the store and no server. So a refresh token that the server no longer
   * accepts counts until its refusal here.
   *
   * @throws TokenStoreError
   */
  async has(): Promise<boolean> {
    if (this.#options.grant !== undefined) return true;
    const known = this.#unsaved?.token ?? (await this.#load());
    if (known === undefined) return false;
    if (known.token !== "" && !known.expired()) return true;
    return known.refreshToken !== undefined && known.refreshToken !== this.#refusal?.refreshToken;
  }

  /**
   * Returns a fresh token: the one at hand, that of the store, or a new one.
   *
   * @throws TokenUnavailableError when there is none and no way to get one; what a refresh, the
   * grant or `orElse` throws; TokenStoreError; the reason of the signal
   */
  async getToken(options: GetTokenOptions = {}): Promise<AccessToken> {
    checkOptions("TokenManager.getToken", options, ["refused", "minValidity", "signal", "orElse"]);
    const { refused, minValidity = 0, signal, orElse } = options;
    const { timeout } = this.#client.connection;
    const deadline = timeout === 0 ? Infinity : performance.now() + timeout;
    let lostLocks = 0;
    for (;;) {
      const current = this.#current;
      if (current !== undefined && this.#serves(current, refused, minValidity)) return current;
      signal?.throwIfAborted();
      try {
        const flight = this.#fly(refused, minValidity);
        const token = await raceSignal(flight.token, signal);
        const isOwn =
          flight.refused?.token === refused?.token && flight.minValidity === minValidity;
        // A caller who wanted less has found a token that does not serve this one.
        if (isOwn || this.#serves(token, refused, minValidity)) return token;
      } catch (error) {
        if (orElse !== undefined && needsUser(error)) {
          return await raceSignal(this.#signInBy(orElse), signal);
        }
        // The caller that has the lock now has stored a newer token, or is about to. Each round
        // requests one more token.
        if (error instanceof LostLockError && lostLocks < 2 && performance.now() < deadline) {
          lostLocks += 1;
          await pause(100 * lostLocks, signal ?? undefined);
          continue;
        }
        const { remaining } = this.#pause;
        if (!this.#pause.delays(error) || performance.now() + remaining >= deadline) throw error;
        await this.#pause.wait(signal);
      }
    }
  }

  /** Puts another token in place, such as that of a sign-in, and stores it. */
  async set(token: AccessToken): Promise<void> {
    this.#epoch += 1;
    this.#refusal = undefined;
    this.#pause.end();
    await this.#locked(async () => this.#accept(token));
  }

  /** Forgets the token, here and in the store. Does not revoke it. */
  async clear(): Promise<void> {
    this.#epoch += 1;
    this.#pause.end();
    await this.#locked(async () => {
      this.#current = undefined;
      this.#unsaved = undefined;
      await this.#bounded(this.#store.delete(this.#key));
      // A call in the meantime may have read it.
      this.#epoch += 1;
      this.#current = undefined;
      this.#flight = undefined;
    });
  }

  /** Joins the sign-in that is under way, or begins one. */
  #signInBy(orElse: () => Promise<AccessToken>): Promise<AccessToken> {
    const signIn = async (): Promise<AccessToken> => {
      const token = usable(await orElse());
      await this.set(token);
      return token;
    };
    return (this.#signIn ??= signIn().finally(() => (this.#signIn = undefined)));
  }

  /** Joins the renewal that is under way, or begins one. */
  #fly(refused: AccessToken | undefined, minValidity: number) {
    if (this.#flight !== undefined) return this.#flight;
    const token = this.#renew(refused, minValidity).finally(() => {
      if (this.#flight?.token === token) this.#flight = undefined;
    });
    // Every waiting caller gets the error; if all have left, it is dropped.
    token.catch(() => {});
    return (this.#flight = { token, refused, minValidity });
  }

  async #renew(refused: AccessToken | undefined, minValidity: number): Promise<AccessToken> {
    const epoch = this.#epoch;
    const stored = this.#unsaved === undefined ? await this.#load() : undefined;
    if (stored !== undefined && this.#serves(stored, refused, minValidity)) {
      return this.#adopt(stored, epoch);
    }
    return this.#locked(async () => {
      // Another process may have refreshed it while this one waited.
      const stored = await this.#load();
      if (this.#isOutdated(stored)) this.#unsaved = undefined;
      const { token: known = stored, over } = this.#unsaved ?? {};
      if (known !== undefined && this.#serves(known, refused, minValidity)) {
        if (known === stored) return this.#adopt(known);
        await this.#accept(known, over);
        return known;
      }
      return this.#replace(known, refused, minValidity);
    });
  }

  /** Whether the store has another token now than the one that was to be replaced. */
  #isOutdated(stored: AccessToken | undefined): boolean {
    const { over, token } = this.#unsaved ?? {};
    return over !== undefined && ![over, token?.token].includes(stored?.token ?? "");
  }

  async #replace(
    known: AccessToken | undefined,
    refused: AccessToken | undefined,
    minValidity: number,
  ): Promise<AccessToken> {
    const epoch = this.#epoch;
    let fresh: AccessToken;
    if (known !== undefined && this.#pause.hasUselessToken) {
      if (known.token !== refused?.token) return this.#adopt(known);
      throw new TokenUnavailableError(
        "the last token is expired or was refused, and it is too early for another request",
      );
    }
    if (known !== undefined && known.token === refused?.token && this.#isYoung(known)) {
      throw new TokenUnavailableError("a resource refused a token that was requested just before");
    }
    try {
      fresh = await this.#obtain(known);
    } catch (error) {
      const isUsable = known !== undefined && !["", refused?.token].includes(known.token);
      if (isUsable && isTemporary(error) && this.#outlasts(known, minValidity)) {
        return this.#adopt(known);
      }
      throw error;
    }
    this.#requested = { token: fresh.token, at: performance.now() };
    if (this.#serves(fresh, refused, minValidity)) this.#pause.end();
    else this.#pause.useless(fresh);
    const { over } = this.#unsaved ?? { over: known?.token ?? "" };
    if (epoch === this.#epoch) await this.#accept(fresh, over);
    return fresh;
  }

  async #obtain(known: AccessToken | undefined): Promise<AccessToken> {
    const { grant } = this.#options;
    if (known?.refreshToken === undefined) {
      if (grant !== undefined) return this.#request(grant);
      throw new NoGrantError(
        known === undefined ? "no token is stored yet" : "the token cannot be refreshed",
      );
    }
    const { refreshToken } = known;
    try {
      if (this.#refusal?.refreshToken === refreshToken) throw this.#refusal.error;
      return await this.#request(() => known.refresh());
    } catch (error) {
      if (!isInvalidGrant(error)) throw error;
      this.#refusal = { refreshToken, error };
      if (grant === undefined) throw error;
      return this.#request(grant);
    }
  }

  #request(send: () => Promise<AccessToken>): Promise<AccessToken> {
    return this.#pause.run(async () => usable(await send()));
  }

  /** Stores a token, then reports it, then returns it to all waiting callers. */
  async #accept(token: AccessToken, over?: string): Promise<void> {
    const previous = this.#current;
    this.#unsaved = { token, over };
    // With its lifetime, of which another process needs to know when the token is to be renewed.
    const { expiresIn: expires_in } = token;
    const lifetime = expires_in === undefined ? {} : { expires_in };
    try {
      await this.#bounded(this.#store.set(this.#key, { ...token.toHash(), ...lifetime }));
    } catch (error) {
      if (error instanceof LostLockError) this.#unsaved = undefined;
      throw error;
    }
    this.#unsaved = undefined;
    this.#epoch += 1;
    this.#current = token;
    await this.#options.onChange?.(token, previous);
  }

  #adopt(token: AccessToken, epoch = this.#epoch): AccessToken {
    if (epoch === this.#epoch) this.#current = token;
    return token;
  }

  async #load(): Promise<AccessToken | undefined> {
    const hash: TokenHash | undefined = await this.#bounded(this.#store.get(this.#key));
    if (hash === undefined) return undefined;
    const current = this.#current;
    const same = current !== undefined && current.token === hash["access_token"];
    return same && (current.refreshToken ?? null) === (hash["refresh_token"] ?? null)
      ? current
      : AccessToken.fromHash(this.#client, hash);
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    if (this.#store.lock === undefined) return work();
    const begun = Promise.withResolvers<void>();
    let isLate = false;
    const done = this.#store.lock(this.#key, () => {
      begun.resolve();
      if (isLate) throw new TokenStoreError("the lock of the token came too late");
      return work();
    });
    try {
      await within(Promise.race([begun.promise, done]), lockLimit);
    } catch (error) {
      isLate = true;
      throw error;
    }
    return done;
  }

  /** A store that hangs must not make callers hang: it has as long as a server has. */
  async #bounded<T>(result: T | Promise<T>): Promise<T> {
    const { timeout } = this.#client.connection;
    return result instanceof Promise && timeout > 0 ? within(result, timeout) : result;
  }

  #serves(token: AccessToken, refused: AccessToken | undefined, minValidity: number): boolean {
    return token.token !== refused?.token && this.#isFresh(token, minValidity);
  }

  #isFresh(token: AccessToken, minValidity: number): boolean {
    if (token.token === "") return false;
    const quarter = token.expiresIn === undefined ? Infinity : Math.max(token.expiresIn, 0) / 4;
    return this.#outlasts(token, Math.max(minValidity, Math.min(refreshBefore, quarter)));
  }

  /** A resource that refuses even new tokens must not cause a token request with each call. */
  #isYoung(token: AccessToken): boolean {
    const requested = this.#requested;
    if (token.token !== requested?.token || token.expired()) return false;
    return performance.now() - requested.at < youngAge;
  }

  #outlasts(token: AccessToken, seconds: number): boolean {
    return !token.expired(this.#client.clock() / 1000 + seconds);
  }
}

/** There is no token, and no way to get one without a user. */
class NoGrantError extends TokenUnavailableError {}

function needsUser(error: unknown): boolean {
  return error instanceof NoGrantError || isInvalidGrant(error);
}

/** With `raiseErrors: false` a failure is a token without a value. */
function usable(token: AccessToken): AccessToken {
  if (token.token !== "") return token;
  throw token.error ?? new TokenUnavailableError("the server returned no access token");
}
