import type { AccountsContext } from "../accounts-context.ts";

/** Ends whatever a user who is gone could sign in with. */
export async function forgetUser(context: AccountsContext, user: string): Promise<void> {
  const { emailChanges, factors, keys, passkeys, resets, sessions, store, onRemove } = context;
  await sessions.endAll(user);
  await keys.removeAll(user);
  await passkeys?.removeAll(user);
  await factors.remove(user);
  await emailChanges.removeAll(user);
  await store.collection(resets.collection).removeMany({ where: { user } });
  await onRemove?.(user);
}
