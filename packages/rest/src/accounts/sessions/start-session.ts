import type { Stored } from "@fetchwork/documents";
import type { Call } from "../../resource/call.ts";
import type { OwnUser, SessionAnswer, SignInMethod } from "../account-operations.ts";
import type { AccountsContext } from "../accounts-context.ts";
import type { StoredUser } from "../users/define-user.ts";
import type { Client } from "./sessions.ts";

/** What is for one client alone. */
export const personalHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

/** Signs a user in. */
export async function startSession(
  { sessions, user }: Pick<AccountsContext, "sessions" | "user">,
  call: Call,
  { found, method }: { readonly found: Stored<StoredUser>; readonly method: SignInMethod },
): Promise<SessionAnswer> {
  const grant = await sessions.begin(found, { method, ...clientOf(call) });
  // Its resource says what it shows to the user itself.
  return { ...grant, user: user.present(found, { user: found }) as unknown as OwnUser };
}

/** Describes the client of a call, for its user to recognize. */
export function clientOf({ context, request }: Pick<Call, "context" | "request">): Client {
  return { address: context.ip, agent: request.headers.get("user-agent") ?? undefined };
}
