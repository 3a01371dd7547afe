import { randomUUID } from "node:crypto";
import type { Stored, Transaction } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import { proven, type StoredUser } from "./define-user.ts";
import { forgetUserIn } from "./forget-user.ts";

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
  return context.store.transaction(async (transaction) => {
    const current = await transaction.collection(context.user.collection).get(found.id);
    if (current?.email !== found.email) return undefined;
    if (current.verified === true) return current;
    return transferToOwner(context, transaction, current, passwordHash);
  });
}

/**
 * Ends whatever a user could sign in with, sets another password, and marks the email as proved.
 * The second factor stays with a user who had proved the email before. Anybody else may have signed
 * up with the email of somebody else, and has no way back.
 */
export async function transferToOwner(
  { user: { collection } }: AccountsContext,
  transaction: Transaction,
  current: Stored<StoredUser>,
  passwordHash: string,
): Promise<Stored<StoredUser> | undefined> {
  const keepFactor = current.verified === true;
  await forgetUserIn(transaction, current.id, { keepFactor });
  const sessionVersion = current.sessionVersion + 1;
  const change = { passwordHash, sessionVersion, ...proven };
  return transaction.collection(collection).update(current.id, change, { ifVersion: current });
}
