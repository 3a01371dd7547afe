import { randomUUID } from "node:crypto";
import type { Stored } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import { proven, type StoredUser } from "./define-user.ts";
import { type AfterForget, forgetUserIn } from "./forget-user.ts";

/**
 * Hands a user over to the person who has just proved to own its email. A provider that verified it
 * proves that, too. Unless the email was proved before, a person who created the user or signed up
 * with it loses all access: password, sessions, keys, passkeys, links and second factor. A user
 * with a verified email is left unchanged.
 *
 * @param found - The user that was found by that email. Returns `undefined` when it is gone, or has
 * another email by now.
 */
export async function claimUser(
  context: AccountsContext,
  found: Stored<StoredUser>,
): Promise<Stored<StoredUser> | undefined> {
  if (found.verified === true) return found;
  const passwordHash = await hashPassword(randomUUID());
  let after: AfterForget | undefined;
  const claimed = await context.store.transaction(async (transaction) => {
    after = undefined;
    const users = transaction.collection(context.user.collection);
    const current = await users.get(found.id);
    if (current?.email !== found.email || current.verified === true) {
      return current?.email === found.email ? current : undefined;
    }
    after = await forgetUserIn(context, transaction, { user: found.id });
    const sessionVersion = current.sessionVersion + 1;
    return users.update(found.id, { passwordHash, sessionVersion, ...proven });
  });
  await after?.();
  return claimed;
}
