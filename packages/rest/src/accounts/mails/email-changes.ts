import {
  type CollectionDefinition,
  defineCollection,
  type Store,
  type Stored,
  type Transaction,
  UniqueError,
} from "@fetchwork/documents";
import type { PasswordReset } from "../password-resets.ts";
import { digestOf, isSecret, newSecret } from "../secret-token.ts";
import { proven, type StoredUser, type UserResource } from "../users/define-user.ts";

/** An address that a user wants, or has and confirms. */
export interface EmailChange {
  readonly user: string;
  readonly email: string;
  /** The user's session version at the time: a new password in between ends the wish. */
  readonly sessionVersion: number;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export const emailChangeCollection: CollectionDefinition<EmailChange> =
  defineCollection<EmailChange>("email-changes", {
    indexes: ["user"],
    expires: { field: "expiresAt" },
  });

/** Sets addresses of users, with a token that only the owner of the mailbox gets. */
export interface EmailChanges {
  /** Makes a token of 43 URL-safe characters, good for a day; stored as a hash. */
  issue(user: Stored<StoredUser>, email: string): Promise<string>;
  /** Finds the user whom a token is for; `undefined` for a token that does not hold. */
  find(token: string): Promise<Stored<StoredUser> | undefined>;
  /**
   * Sets the address and marks it as confirmed; of any number of calls with one token one succeeds.
   * Returns the user before and after. `undefined` means that the token does not hold, `"taken"`
   * that another user has the address now.
   */
  use(
    store: Store,
    token: string,
  ): Promise<
    | { readonly before: Stored<StoredUser>; readonly after: Stored<StoredUser> }
    | "taken"
    | undefined
  >;
}

const lifetime = 86_400_000;

/** Makes {@link EmailChanges}. */
export function createEmailChanges(
  ownStore: Store,
  { collection }: UserResource,
  resets: CollectionDefinition<PasswordReset>,
): EmailChanges {
  return {
    async issue({ id, sessionVersion }, email) {
      const token = newSecret();
      const change = { user: id, email, sessionVersion, expiresAt: Date.now() + lifetime };
      await ownStore.collection(emailChangeCollection).insert(change, { id: digestOf(token) });
      return token;
    },
    async find(token) {
      if (!isSecret(token)) return undefined;
      return (await findIn(ownStore, digestOf(token)))?.user;
    },
    async use(store, token) {
      if (!isSecret(token)) return undefined;
      try {
        return await store.transaction((alone) => useIn(alone, digestOf(token)));
      } catch (error) {
        if (error instanceof UniqueError) return "taken";
        throw error;
      }
    },
  };

  async function findIn(
    store: Pick<Transaction, "collection">,
    id: string,
  ): Promise<{ readonly change: EmailChange; readonly user: Stored<StoredUser> } | undefined> {
    const change = await store.collection(emailChangeCollection).get(id);
    if (change === undefined || change.expiresAt <= Date.now()) return undefined;
    const user = await store.collection(collection).get(change.user);
    return user?.sessionVersion === change.sessionVersion ? { change, user } : undefined;
  }

  async function useIn(
    alone: Transaction,
    id: string,
  ): Promise<
    { readonly before: Stored<StoredUser>; readonly after: Stored<StoredUser> } | undefined
  > {
    const found = await findIn(alone, id);
    if (found === undefined) return undefined;
    const { change, user: before } = found;
    const users = alone.collection(collection);
    // Readers of the former mailbox set no password any more.
    if (change.email !== before.email) {
      await alone.collection(resets).removeMany({ where: { user: before.id } });
    }
    await alone.collection(emailChangeCollection).removeMany({ where: { user: before.id } });
    const { email } = change;
    const after = await users.update(before.id, { email, ...proven });
    return after && { before, after };
  }
}
