import { forbidden } from "../../access.ts";
import type { AccountsContext } from "../accounts-context.ts";
import type { AccountCall } from "../users/own-account.ts";

/** Time after signing in for which what signs in later may be added, in milliseconds. */
const recent = 900_000;

/**
 * Refuses to add what somebody could sign in with for good, unless the user has signed in within 15
 * minutes: a token that was stolen does not last longer for it.
 *
 * @throws Problem 403
 */
export async function requireRecentSignIn(
  { sessions }: Pick<AccountsContext, "sessions">,
  { user }: Pick<AccountCall, "user">,
): Promise<void> {
  const found = await sessions.list(user);
  const session = found.find(({ id }) => id === user.session);
  const age = session && Date.now() - Date.parse(session.createdAt);
  if (age === undefined || age > recent) throw forbidden("this needs a sign-in within 15 minutes");
}
