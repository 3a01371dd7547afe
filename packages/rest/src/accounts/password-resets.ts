import {
  defineCollection,
  type CollectionDefinition,
  type Store,
  type Stored,
  type Transaction,
} from "@fetchwork/documents";
import { checkConfigured } from "../errors.ts";
import { checkOptions } from "../check-options.ts";
import { hashPassword } from "./password.ts";
import { digestOf, isSecret, newSecret } from "./secret-token.ts";

/** A reset as it is stored, under the SHA-256 of its token: readers of the store cannot use it. */
export interface PasswordReset {
  /** Identifier of the user. */
  readonly user: string;
  /** SHA-256 of the user's `passwordHash` at that time, so that another password ends the reset. */
  readonly password: string;
  /** End of validity, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Fields of a user that resets need. */
export interface PasswordHolder {
  /** Hash made by {@link hashPassword}. */
  readonly passwordHash: string;
  readonly sessionVersion: number;
}

/** How resets are made. */
export interface PasswordResetsOptions<User extends PasswordHolder = PasswordHolder> {
  readonly users: CollectionDefinition<User>;
  /** Validity of a token in seconds, up to a day. Default: `3_600`, one hour. */
  readonly lifetime?: number | undefined;
}

/** Lets users who lost their password set another, with a token sent to their mailbox. */
export interface PasswordResets<User extends PasswordHolder = PasswordHolder> {
  /** Where resets are kept; for `openStore`. Expired ones are neither found nor kept. */
  readonly collection: CollectionDefinition<PasswordReset>;
  /** Makes a token of 43 URL-safe characters (256 random bits). It is not stored: shown once. */
  issue(store: Store, user: Stored<PasswordHolder>): Promise<string>;
  /**
   * Finds the user whom a token is for: `undefined` for one that is unknown, used or expired, whose
   * user is gone or has another password by now.
   */
  find(store: Store, token: string): Promise<Stored<User> | undefined>;
  /**
   * Sets the password, ends all sessions of the user by another `sessionVersion`, and uses up all
   * its resets. One of any number of calls with one token succeeds; the others get `undefined`, as
   * for a token that `find` does not find.
   *
   * @param more - Runs in the same transaction, with the user before the change; what it returns is
   * changed too.
   * @throws Problem 503 when too many passwords are to be hashed already.
   */
  use(
    store: Store,
    token: string,
    password: string,
    more?: (transaction: Transaction, user: Stored<User>) => Promise<Partial<User>>,
  ): Promise<Stored<User> | undefined>;
}

/**
 * Makes {@link PasswordResets}.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` for a lifetime that cannot serve.
 */
export function createPasswordResets<User extends PasswordHolder>(
  options: PasswordResetsOptions<User>,
): PasswordResets<User> {
  checkOptions("createPasswordResets", options, ["users", "lifetime"]);
  const { users, lifetime = 3_600 } = options;
  checkConfigured(
    Number.isSafeInteger(lifetime) && lifetime >= 1 && lifetime <= 86_400,
    `the lifetime of resets must be whole seconds from 1 to 86400, got ${lifetime}`,
  );
  const collection = defineCollection<PasswordReset>("password-resets", {
    indexes: ["user"],
    expires: { field: "expiresAt" },
  });

  return {
    collection,
    async issue(store, user) {
      const token = newSecret();
      const reset: PasswordReset = {
        user: user.id,
        password: digestOf(user.passwordHash),
        expiresAt: Date.now() + lifetime * 1_000,
      };
      await store.collection(collection).insert(reset, { id: digestOf(token) });
      return token;
    },
    find,
    async use(store, token, password, more) {
      // Hashing is dear and must not hold the transaction up, so a token that does not hold ends
      // here.
      if (!(await find(store, token))) return undefined;
      const passwordHash = await hashPassword(password);
      return store.transaction(async (alone) => {
        const user = await find(alone, token);
        if (!user) return undefined;
        await alone.collection(collection).removeMany({ where: { user: user.id } });
        const sessionVersion = user.sessionVersion + 1;
        const others = await more?.(alone, user);
        return alone
          .collection(users)
          .update(user.id, (current) => ({ ...current, ...others, passwordHash, sessionVersion }), {
            ifVersion: user,
          });
      });
    },
  };

  async function find(
    store: Pick<Transaction, "collection">,
    token: string,
  ): Promise<Stored<User> | undefined> {
    if (!isSecret(token)) return undefined;
    const reset = await store.collection(collection).get(digestOf(token));
    if (!reset || reset.expiresAt <= Date.now()) return undefined;
    const user = await store.collection(users).get(reset.user);
    return user && digestOf(user.passwordHash) === reset.password ? user : undefined;
  }
}
