import { randomUUID } from "node:crypto";
import type { Stored } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import { proven, type StoredUser } from "./define-user.ts";
import { forgetUser } from "./forget-user.ts";

/**
 * Hands a user over to the person who has just proved to own its email, such as by signing in with a provider that
 * verified it. Unless the email was proved before, whoever created the user or signed up with the email loses all access:
 * password, sessions, keys, passkeys, links and second factor. A user with a verified email is left unchanged.
 */
export async function claimUser(
  context: AccountsContext,
  found: Stored<StoredUser>,
): Promise<Stored<StoredUser>> {
  if (found.verified === true) return found;
  const passwordHash = await hashPassword(randomUUID());
  const users = context.store.collection(context.user.collection);
  await users.update(found.id, (current) => ({
    ...current,
    passwordHash,
    sessionVersion: current.sessionVersion + 1,
  }));
  await forgetUser(context, found.id);
  // Last, so that a process that ends in between leaves it to the next time.
  return (await users.update(found.id, proven)) ?? found;
}
