import { randomUUID } from "node:crypto";
import { UniqueError, type Store } from "@fetchwork/documents";
import { hashPassword, Problem } from "@fetchwork/rest";
import {
  claimUser,
  emailSchema,
  whileSignedIn,
  type AccountsContext,
} from "@fetchwork/rest/accounts";
import { z } from "zod";
import { identities, identityId } from "../api/social/model.ts";
import { user, type User } from "../api/user/model.ts";

const shownName = z.string().trim().max(100);
const shownPicture = z.url({ protocol: /^https?$/ }).max(2_000);

/** Who a provider says that somebody is. */
export interface ProviderUser {
  readonly issuer: string;
  readonly sub: string;
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly name?: unknown;
  readonly picture?: unknown;
}

/** Finds the user that somebody of a provider is linked to. */
export async function findLinked(
  store: Store,
  { issuer, sub }: Pick<ProviderUser, "issuer" | "sub">,
): Promise<User | undefined> {
  const links = store.collection(identities);
  const id = identityId(issuer, sub);
  const found = await links.get(id);
  if (found === undefined) return undefined;
  const linked = await store.collection(user.collection).get(found.userId);
  // The user was deleted; whoever comes back is new.
  if (linked === undefined) {
    const { forgetIdentity } = await import("./kept-tokens.ts");
    await forgetIdentity(store, id);
  }
  return linked;
}

/**
 * Links somebody of a provider to a user, for good.
 *
 * @throws Problem 409 when it is linked to another user, 401 when the sessions of the user were ended meanwhile.
 */
export async function linkTo(
  store: Store,
  { issuer, sub }: Pick<ProviderUser, "issuer" | "sub">,
  account: Pick<User, "id" | "sessionVersion">,
): Promise<void> {
  const { id: userId } = account;
  try {
    await whileSignedIn(store, user, account, (transaction) =>
      transaction
        .collection(identities)
        .insert({ issuer, sub, userId }, { id: identityId(issuer, sub) }),
    );
  } catch (error) {
    if (!(error instanceof UniqueError)) throw error;
    const linked = await findLinked(store, { issuer, sub });
    if (linked?.id === userId) return;
    throw new Problem(409, { detail: "this account of the provider belongs to another user" });
  }
}

/**
 * Finds or creates the user that has the address of somebody of a provider.
 *
 * @throws Problem 409 when the provider has verified no address; `linkPath` is the way out.
 */
export async function findOrCreateLinked(
  accounts: AccountsContext,
  person: ProviderUser,
  linkPath: string,
): Promise<User> {
  const { store } = accounts;
  const linked = await findLinked(store, person);
  if (linked !== undefined) return linked;
  const email = emailSchema.safeParse(person.email);
  // Whoever is believed with an address that is not theirs, takes over the account of that address.
  if (person.email_verified !== true || !email.success) {
    throw new Problem(409, {
      detail: `the provider has verified no email address: sign in otherwise, and link the account with POST ${linkPath}`,
      headers: { link: `<${linkPath}>; rel="related"` },
    });
  }
  for (let tries = 0; tries < 3; tries += 1) {
    const known =
      (await byEmail(store, email.data)) ?? (await createUser(store, email.data, person));
    // Whoever made the account may not own the address: until that was proved, they lose all access.
    const found = await claimUser(accounts, known);
    // Its address was changed in this moment.
    if (found === undefined) continue;
    await linkTo(store, person, found);
    return found;
  }
  throw new Problem(503, { detail: "the user is being changed", headers: { "retry-after": "1" } });
}

async function byEmail(store: Store, email: string): Promise<User | undefined> {
  const [found] = await store.collection(user.collection).find({ where: { email }, limit: 1 });
  return found;
}

async function createUser(
  store: Store,
  email: string,
  { name, picture }: ProviderUser,
): Promise<User> {
  const given = {
    name: shownName.safeParse(name).data,
    picture: shownPicture.safeParse(picture).data,
  };
  try {
    return await store.collection(user.collection).insert({
      email,
      role: "user",
      ...(given.name ? { name: given.name } : {}),
      ...(given.picture ? { picture: given.picture } : {}),
      // Nobody knows it: this user signs in with the provider.
      passwordHash: await hashPassword(randomUUID()),
      sessionVersion: 1,
      verified: true,
    });
  } catch (error) {
    // Somebody was faster, in another window.
    const other = error instanceof UniqueError ? await byEmail(store, email) : undefined;
    if (other === undefined) throw error;
    return other;
  }
}
