import { ProblemError } from "./errors.ts";

/** Tokens of a session. They are plain data, to be kept as JSON. */
export interface AuthTokens {
  /** Sent as `Authorization: Bearer`. */
  readonly token: string;
  /** Good for one refresh. */
  readonly refreshToken: string;
  /** Time when `token` expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Keeps the tokens of a session. Several clients, such as two tabs, may share one. */
export interface AuthTokenStore {
  /** Returns what was set; any value that is not {@link AuthTokens} means signed out. */
  get(): unknown;
  /** Keeps tokens, or with `undefined` removes them. */
  set(tokens: AuthTokens | undefined): unknown;
}

/** How a client stays signed in. */
export interface AuthOptions {
  /** Where the tokens are kept; both functions may return promises. Default: in memory. */
  readonly tokens?: AuthTokenStore | undefined;
  /** Called once when a refused refresh ends a session, not by `signOut`. Default: nothing. */
  readonly onSignOut?: (() => void) | undefined;
}

/** The session of a client. All refreshes that are asked for at once are one. */
export interface ClientSession {
  /** Tokens that have not expired. */
  current(): Promise<AuthTokens | undefined>;
  /** Refreshes unless there are newer tokens; `undefined` when no user is signed in. */
  renew(stale?: AuthTokens): Promise<AuthTokens | undefined>;
  /** Keeps other tokens. */
  keep(tokens: AuthTokens): Promise<void>;
  /** Runs what ends the session on the server, and removes the tokens whatever comes of it. */
  leave(end: () => Promise<unknown>): Promise<void>;
}

/** Makes a {@link ClientSession}. `refresh` sends a refresh token. */
export function createClientSession(
  { tokens = memoryStore(), onSignOut }: AuthOptions,
  refresh: (refreshToken: string) => Promise<AuthTokens>,
): ClientSession {
  let refreshing: Promise<AuthTokens | undefined> | undefined;
  let leaving = 0;

  async function read(): Promise<AuthTokens | undefined> {
    const found = await tokens.get();
    return isTokens(found) ? found : undefined;
  }

  function renew(stale?: AuthTokens): Promise<AuthTokens | undefined> {
    refreshing ??= exchange(stale).finally(() => (refreshing = undefined));
    return refreshing;
  }

  async function exchange(stale?: AuthTokens): Promise<AuthTokens | undefined> {
    const held = await read();
    if (held === undefined) return undefined;
    // Each refresh makes another refresh token, while two session tokens of one second may be
    // equal.
    const isNewer = stale && held.refreshToken !== stale.refreshToken;
    if (isNewer && held.expiresAt > Date.now()) return held;
    let granted: AuthTokens | undefined;
    try {
      granted = await refresh(held.refreshToken);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const found = await read();
      if (found && found.refreshToken !== held.refreshToken) return found;
      await tokens.set(undefined);
      if (leaving === 0) onSignOut?.();
      throw error;
    }
    // The user may have signed out since, or another tab has refreshed.
    const found = await read();
    if (found?.refreshToken !== held.refreshToken) return found;
    await tokens.set(granted);
    return granted;
  }

  /** Waits for a refresh, so that it does not replace what is kept. */
  async function replace(next: AuthTokens | undefined): Promise<void> {
    await refreshing?.catch(() => undefined); // Its callers get the error.
    await tokens.set(next);
  }

  return {
    renew,
    keep: replace,
    async current() {
      const held = await read();
      return held && held.expiresAt <= Date.now() ? renew(held) : held;
    },
    async leave(end) {
      if ((await read()) === undefined) return;
      leaving += 1;
      try {
        await end();
      } catch (error) {
        // A session that has ended needs no end.
        if (!(error instanceof ProblemError && error.status === 401)) throw error;
      } finally {
        await replace(undefined).finally(() => (leaving -= 1));
      }
    },
  };
}

function memoryStore(): AuthTokenStore {
  let kept: AuthTokens | undefined;
  return { get: () => kept, set: (next) => (kept = next) };
}

/** Whether something can be sent as tokens: a store may hold what an older program wrote. */
export function isTokens(found: unknown): found is AuthTokens {
  const { expiresAt, refreshToken, token } = (found ?? {}) as Partial<Record<string, unknown>>;
  const texts = [token, refreshToken];
  const areTexts = texts.every((one) => typeof one === "string" && /^[!-~]+$/.test(one));
  return areTexts && Number.isFinite(expiresAt);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 400 || error.status === 401);
}
