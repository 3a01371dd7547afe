import type { AccountsContext } from "../accounts-context.ts";

/** What {@link forgetUser} spares. */
export interface ForgetOptions {
  /** Keeps the second factor. Default: false. */
  readonly keepFactor?: boolean | undefined;
}

/** Ends whatever a user could sign in with but the password. */
export async function forgetUser(
  context: AccountsContext,
  user: string,
  { keepFactor = false }: ForgetOptions = {},
): Promise<void> {
  const { emailChanges, factors, keys, passkeys, resets, sessions, store, onForget } = context;
  await sessions.endAll(user);
  await keys.removeAll(user);
  await passkeys?.removeAll(user);
  if (!keepFactor) await factors.remove(user);
  await emailChanges.removeAll(user);
  await store.collection(resets.collection).removeMany({ where: { user } });
  await onForget?.(user);
}
