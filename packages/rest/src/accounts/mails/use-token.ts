import { type Stored, type Transaction, UniqueError } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { hashPassword } from "../password.ts";
import { transferToOwner } from "../users/claim-user.ts";
import { proven, type StoredUser } from "../users/define-user.ts";
import { emailChanges, findToken, passwordResets } from "./mailed-tokens.ts";

/** A user before and after its address was confirmed. */
export interface ConfirmedEmail {
  readonly before: Stored<StoredUser>;
  readonly after: Stored<StoredUser>;
}

/**
 * Sets a lost password, and ends whatever else the user could sign in with. One of any number of
 * calls with one token succeeds; the others return `undefined`, as for a token that is not found.
 *
 * @throws Problem 503 when too many passwords are to be hashed already.
 */
export async function resetPassword(
  context: AccountsContext,
  token: string,
  password: string,
): Promise<Stored<StoredUser> | undefined> {
  const { store } = context;
  // Hashing is dear and must not hold the transaction up, so a token that does not hold ends here.
  if (!(await findToken(context, store, passwordResets, token))) return undefined;
  const passwordHash = await hashPassword(password);
  return store.transaction(async (transaction) => {
    const found = await findToken(context, transaction, passwordResets, token);
    return found && transferToOwner(context, transaction, found.user, passwordHash);
  });
}

/**
 * Sets the address of a user and marks it as confirmed; of any number of calls with one token one
 * succeeds. `undefined` means that the token does not hold, `"taken"` that another user has the
 * address now.
 */
export async function confirmEmail(
  context: AccountsContext,
  token: string,
): Promise<ConfirmedEmail | "taken" | undefined> {
  try {
    return await context.store.transaction((transaction) => confirmIn(context, transaction, token));
  } catch (error) {
    if (error instanceof UniqueError) return "taken";
    throw error;
  }
}

async function confirmIn(
  context: AccountsContext,
  transaction: Transaction,
  token: string,
): Promise<ConfirmedEmail | undefined> {
  const found = await findToken(context, transaction, emailChanges, token);
  if (found === undefined) return undefined;
  const { email, user: before } = found;
  const where = { user: before.id };
  await transaction.collection(emailChanges.collection).removeMany({ where });
  // Readers of the former mailbox set no password any more.
  if (email !== before.email) {
    await transaction.collection(passwordResets.collection).removeMany({ where });
  }
  const users = transaction.collection(context.user.collection);
  const after = await users.update(before.id, { email, ...proven });
  return after && { before, after };
}
