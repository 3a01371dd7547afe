import type { Transaction } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { apiKeyCollection } from "../keys/api-key.ts";
import { emailChangeCollection } from "../mails/email-changes.ts";
import { passkeyCollection } from "../passkeys/passkey.ts";
import { secondFactorCollection } from "../second-factor/second-factors.ts";
import { sessionCollection } from "../sessions/session.ts";

/** Work that follows the commit of what {@link forgetUserIn} is part of. */
export type AfterForget = () => Promise<void>;

/** What {@link forgetUser} spares. */
export interface ForgetOptions {
  /** Keeps the second factor. Default: false. */
  readonly keepFactor?: boolean | undefined;
}

/**
 * Ends whatever a user could sign in with but the password, as part of a transaction, so that it ends together with what
 * else is changed, or not at all. Returns what is to be done after the commit.
 */
export async function forgetUserIn(
  { onForget, resets }: Pick<AccountsContext, "onForget" | "resets">,
  transaction: Transaction,
  { keepFactor = false, user }: ForgetOptions & { readonly user: string },
): Promise<AfterForget> {
  const where = { user };
  await transaction.collection(sessionCollection).removeMany({ where });
  await transaction.collection(apiKeyCollection).removeMany({ where });
  await transaction.collection(passkeyCollection).removeMany({ where });
  await transaction.collection(emailChangeCollection).removeMany({ where });
  await transaction.collection(resets.collection).removeMany({ where });
  if (!keepFactor) await transaction.collection(secondFactorCollection).remove(user);
  return (await onForget?.(user, transaction)) ?? (() => Promise.resolve());
}

/** Ends whatever a user who is gone could sign in with. */
export async function forgetUser(context: AccountsContext, user: string): Promise<void> {
  const after = await context.store.transaction((transaction) =>
    forgetUserIn(context, transaction, { user }),
  );
  await after();
}
