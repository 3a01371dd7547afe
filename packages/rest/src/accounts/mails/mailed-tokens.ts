import {
  type CollectionDefinition,
  defineCollection,
  type Store,
  type Stored,
  type Transaction,
} from "@fetchwork/documents";
import { digestOf, isSecret, newSecret } from "../secret-token.ts";
import type { StoredUser, UserResource } from "../users/define-user.ts";

/** A mailed token as it is stored, under its SHA-256: readers of the store cannot use it. */
export interface MailedToken {
  /** Identifier of the user. */
  readonly user: string;
  /** Address that it was mailed to. */
  readonly email: string;
  /** SHA-256 of what the user signed in with then: a new password or version ends the token. */
  readonly access: string;
  /** End of validity, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A purpose of mailed tokens; none is good for another purpose. */
export interface TokenPurpose {
  /** Where they are kept; expired ones are neither found nor kept. */
  readonly collection: CollectionDefinition<MailedToken>;
  /** Validity in milliseconds. */
  readonly lifetime: number;
}

/** Tokens that set a lost password: good for an hour. */
export const passwordResets: TokenPurpose = purposeOf("password-resets", 3_600_000);

/** Tokens that confirm an address that a user has or wants: good for a day. */
export const emailChanges: TokenPurpose = purposeOf("email-changes", 86_400_000);

/** Makes a token of 43 URL-safe characters (256 random bits). It is not stored: shown once. */
export async function issueToken(
  { store }: { readonly store: Store },
  { collection, lifetime }: TokenPurpose,
  user: Stored<StoredUser>,
  email: string = user.email,
): Promise<string> {
  const token = newSecret();
  const expiresAt = Date.now() + lifetime;
  const stored = { user: user.id, email, access: accessOf(user), expiresAt };
  await store.collection(collection).insert(stored, { id: digestOf(token) });
  return token;
}

/**
 * Finds the user and the address that a token is for; nobody for one that is unknown, used or
 * expired. A token ends too when its user is gone or has another password.
 */
export async function findToken(
  { user }: { readonly user: UserResource },
  store: Pick<Transaction, "collection">,
  { collection }: TokenPurpose,
  token: string,
): Promise<{ readonly email: string; readonly user: Stored<StoredUser> } | undefined> {
  if (!isSecret(token)) return undefined;
  const found = await store.collection(collection).get(digestOf(token));
  if (!found || found.expiresAt <= Date.now()) return undefined;
  const holder = await store.collection(user.collection).get(found.user);
  if (!holder || accessOf(holder) !== found.access) return undefined;
  return { email: found.email, user: holder };
}

function accessOf({ passwordHash, sessionVersion }: StoredUser): string {
  return digestOf(`${sessionVersion} ${passwordHash}`);
}

function purposeOf(name: string, lifetime: number): TokenPurpose {
  const collection = defineCollection<MailedToken>(name, {
    indexes: ["user"],
    expires: { field: "expiresAt" },
  });
  return { collection, lifetime };
}
