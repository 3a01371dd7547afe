import { randomUUID } from "node:crypto";
import { type Store, type Stored, UniqueError } from "@fetchwork/documents";
import type { SignInProfile } from "@fetchwork/oauth2/sign-in";
import type { z } from "zod";
import { Problem } from "../../problem.ts";
import type { ResourceCall } from "../../resource/call.ts";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import { claimUser } from "../users/claim-user.ts";
import { insertUser, isTaken } from "../users/create-user.ts";
import type { StoredUser, UserResource } from "../users/define-user.ts";
import { emailSchema, name, picture } from "../users/user-fields.ts";
import { type SignedIn, whileSignedIn } from "../users/while-signed-in.ts";
import { forgetLinks } from "./forget-links.ts";
import { identityCollection, identityId } from "./identity.ts";

/** A user as {@link SignInProfile} names it. */
export type Person = Pick<SignInProfile, "id" | "issuer">;

/** Finds the user that somebody of a provider is linked to. */
export async function findLinked(
  store: Store,
  { collection }: UserResource,
  { id: sub, issuer }: Person,
): Promise<Stored<StoredUser> | undefined> {
  const found = await store.collection(identityCollection).get(identityId(issuer, sub));
  if (found === undefined) return undefined;
  const linked = await store.collection(collection).get(found.userId);
  // The user was deleted by a program; somebody who comes back is new.
  if (linked === undefined) {
    await store.transaction((transaction) => forgetLinks(transaction, found.userId));
  }
  return linked;
}

/**
 * Links somebody of a provider to a user, for good.
 *
 * @throws Problem 409 when it is linked to another user, 401 when the sessions of the user have
 * ended since.
 */
export async function linkTo(
  { store, user }: AccountsContext,
  { id: sub, issuer }: Person,
  account: SignedIn,
): Promise<void> {
  const identity = { issuer, sub, userId: account.id };
  try {
    await whileSignedIn(store, user, account, (transaction) =>
      transaction.collection(identityCollection).insert(identity, { id: identityId(issuer, sub) }),
    );
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    const linked = await findLinked(store, user, { id: sub, issuer });
    if (linked?.id === account.id) return;
    throw new Problem(409, { detail: "this account of the provider belongs to another user" });
  }
}

/**
 * Finds or creates the user that has the address of somebody of a provider.
 *
 * @param call - The sign-in, for the hooks of a creation.
 * @throws Problem 409 when the provider has verified no address; `linkPath` is the way out.
 */
export async function findOrCreateLinked(
  context: AccountsContext,
  call: ResourceCall<unknown>,
  profile: SignInProfile,
  linkPath: string,
): Promise<Stored<StoredUser>> {
  const { store, user } = context;
  const linked = await findLinked(store, user, profile);
  if (linked !== undefined) return linked;
  const email = emailSchema.safeParse(profile.email);
  // An address that is not verified may be that of somebody else, whose account would be taken
  // over.
  if (!profile.emailVerified || !email.success) {
    throw new Problem(409, {
      detail: `the provider has verified no email address: sign in otherwise, and link the account with POST ${linkPath}`,
      headers: { link: `<${linkPath}>; rel="related"` },
    });
  }
  for (let tries = 0; tries < 3; tries += 1) {
    const known =
      (await byEmail(context, email.data)) ??
      (await createUser(context, call, email.data, profile));
    // The person who made the account may not own the address: until that was proved, they lose all
    // access.
    const found = await claimUser(context, known);
    // Its address was changed in this moment.
    if (found === undefined) continue;
    await linkTo(context, profile, found);
    return found;
  }
  throw new Problem(503, { detail: "the user is being changed", headers: { "retry-after": "1" } });
}

async function byEmail(
  { store, user }: AccountsContext,
  email: string,
): Promise<Stored<StoredUser> | undefined> {
  const [found] = await store.collection(user.collection).find({ where: { email }, limit: 1 });
  return found;
}

async function createUser(
  context: AccountsContext,
  call: ResourceCall<unknown>,
  email: string,
  profile: SignInProfile,
): Promise<Stored<StoredUser>> {
  const defaults = await Promise.all(
    Object.entries<z.ZodType>(context.user.creation.shape).map(async ([field, schema]) => {
      return [field, (await schema.safeParseAsync(undefined)).data] as const;
    }),
  );
  try {
    return await insertUser(context, call, {
      ...Object.fromEntries(defaults),
      email,
      role: "user",
      name: name.safeParse(profile.name).data || undefined,
      picture: picture.safeParse(profile.picture).data || undefined,
      // Nobody knows it: this user signs in with the provider.
      passwordHash: await hashPassword(randomUUID()),
      sessionVersion: 1,
      verified: true,
    });
  } catch (error) {
    // Somebody was faster, in another window.
    const other = isTaken(error) ? await byEmail(context, email) : undefined;
    if (other === undefined) throw error;
    return other;
  }
}
