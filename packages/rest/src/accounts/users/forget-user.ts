import type { Transaction } from "@fetchwork/documents";
import type { AccountsContext } from "../accounts-context.ts";
import { apiKeyCollection } from "../keys/api-key.ts";
import { emailChangeCollection } from "../mails/email-changes.ts";
import { passkeyCollection } from "../passkeys/passkey.ts";
import { secondFactorCollection } from "../second-factor/second-factors.ts";
import { forgetLinks } from "../providers/forget-links.ts";
import { sessionCollection } from "../sessions/session.ts";
import type { UserResource } from "./define-user.ts";

/** Work that follows the commit of what {@link forgetUserIn} is part of. */
export type AfterForget = () => Promise<void>;

/** Data that {@link forgetUserIn} keeps. */
export interface ForgetOptions {
  /** Keeps the second factor. Default: false. */
  readonly keepFactor?: boolean | undefined;
}

/**
 * Ends whatever a user could sign in with but the password. It is part of a transaction: it ends
 * together with what else is changed, or not at all. Returns what is to be done after the commit.
 */
export async function forgetUserIn(
  { onForget, resets, store }: Pick<AccountsContext, "onForget" | "resets" | "store">,
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
  const forgetTokens = await forgetLinks(store, transaction, user);
  const after = await onForget?.(user, transaction);
  return async () => {
    await forgetTokens();
    await after?.();
  };
}

/** Users whose removal, also with what they belong to, ends whatever they could sign in with. */
export function forgettingUsers(
  user: UserResource,
  context: Pick<AccountsContext, "onForget" | "resets" | "store">,
): UserResource {
  const { hooks } = user;
  // By call, since the removal may fail yet.
  const following = new WeakMap<object, Map<string, AfterForget>>();
  return {
    ...user,
    hooks: {
      ...hooks,
      async beforeRemove(event) {
        await hooks.beforeRemove?.(event);
        const { id } = event.current;
        const after = await forgetUserIn(context, event.transaction, { user: id });
        const known = following.get(event.call) ?? new Map<string, AfterForget>();
        following.set(event.call, known.set(id, after));
      },
      async afterRemove(event) {
        try {
          await following.get(event.call)?.get(event.document.id)?.();
        } finally {
          await hooks.afterRemove?.(event);
        }
      },
    },
  };
}
