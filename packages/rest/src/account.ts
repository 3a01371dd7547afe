/** Facts about a user that a sign-in needs. */
export interface Account {
  /** Identifier of the user, the subject of its tokens. */
  readonly id: string;
  /** `admin`, or any other role of an ordinary user. */
  readonly role: string;
  /** Argon2id hash in PHC format, as {@link hashPassword} makes it. */
  readonly passwordHash: string;
  /** Raised to end all sessions: tokens that carry another number are refused. */
  readonly sessionVersion: number;
  /** Session in which the account is used. Default: none, as for a password or an API key. */
  readonly session?: string | undefined;
  /** Identifier of the API key with which it is used. Default: it is used by its user. */
  readonly apiKey?: string | undefined;
  /** Scopes of the API key: `articles:read`, `*:read`, `*:write`. Default: unlimited. */
  readonly scopes?: readonly string[] | undefined;
}

/** Finds users; a generated project has it from its users collection. */
export interface AccountSource {
  /** Finds a user by identifier. */
  byId(id: string): Promise<Account | undefined>;
  /** Finds a user by its email, trimmed and in lower case. */
  byEmail(email: string): Promise<Account | undefined>;
}

/** Scope that a key needs for a path: `articles:read`, `articles:write`. */
export function scopeOf(path: string, access: "read" | "write"): string {
  const [, first = ""] = path.split("/");
  return `${first}:${access}`;
}

/** Whether what an account is limited to, as by an API key, covers what is needed. */
export function isInScope({ scopes }: Account, needed: string | undefined): boolean {
  if (scopes === undefined) return true;
  if (needed === undefined) return false;
  return scopes.includes(needed) || scopes.includes(needed.replace(/^[^:]*/, "*"));
}

/** The caller as resources at a path know it: nobody where an API key is out of its scopes. */
export function readerAt(path: string, caller: Account | undefined): Account | undefined {
  return caller && isInScope(caller, scopeOf(path, "read")) ? caller : undefined;
}
