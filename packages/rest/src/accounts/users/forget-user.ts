import type { Transaction } from "@fetchwork/documents";
import { apiKeyCollection } from "../keys/api-key.ts";
import { emailChanges, passwordResets } from "../mails/mailed-tokens.ts";
import { passkeyCollection } from "../passkeys/passkey.ts";
import { secondFactorCollection } from "../second-factor/second-factors.ts";
import { forgetLinks } from "../providers/forget-links.ts";
import { sessionCollection } from "../sessions/session.ts";
import type { UserResource } from "./define-user.ts";

/** Data that {@link forgetUserIn} keeps. */
export interface ForgetOptions {
  /** Keeps the second factor. Default: false. */
  readonly keepFactor?: boolean | undefined;
}

/**
 * Ends whatever a user could sign in with but the password. It is part of a transaction: it ends
 * together with what else is changed, or not at all.
 */
export async function forgetUserIn(
  transaction: Transaction,
  user: string,
  { keepFactor = false }: ForgetOptions = {},
): Promise<void> {
  const where = { user };
  await transaction.collection(sessionCollection).removeMany({ where });
  await transaction.collection(apiKeyCollection).removeMany({ where });
  await transaction.collection(passkeyCollection).removeMany({ where });
  await transaction.collection(emailChanges.collection).removeMany({ where });
  await transaction.collection(passwordResets.collection).removeMany({ where });
  if (!keepFactor) await transaction.collection(secondFactorCollection).remove(user);
  await forgetLinks(transaction, user);
}

/** Users whose removal, also with what they belong to, ends whatever they could sign in with. */
export function forgettingUsers(user: UserResource): UserResource {
  const { hooks } = user;
  return {
    ...user,
    hooks: {
      ...hooks,
      async beforeRemove(event) {
        await hooks.beforeRemove?.(event);
        await forgetUserIn(event.transaction, event.current.id);
      },
    },
  };
}
