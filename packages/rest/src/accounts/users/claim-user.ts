import { randomUUID } from "node:crypto";
import type { Stored } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import type { StoredUser } from "./define-user.ts";
import { forgetUser } from "./forget-user.ts";

/**
 * Hands an unverified user over to the person who has just proved to own its address, such as by signing in with a
 * provider that verified it. The person who signed up with the address before loses all access: password, sessions, keys,
 * passkeys and second factor. A user with a verified address is left unchanged.
 */
export async function claimUser(
  context: AccountsContext,
  found: Stored<StoredUser>,
): Promise<Stored<StoredUser>> {
  if (found.unverified !== true) return found;
  const passwordHash = await hashPassword(randomUUID());
  const sessionVersion = found.sessionVersion + 1;
  const users = context.store.collection(context.user.collection);
  const change = { passwordHash, sessionVersion, unverified: undefined };
  const claimed = await users.update(found.id, change, { ifVersion: found.version });
  await forgetUser(context, found.id);
  return claimed ?? found;
}
