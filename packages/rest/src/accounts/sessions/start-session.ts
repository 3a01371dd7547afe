import type { Stored } from "@fetchwork/documents";
import { json } from "@fetchwork/http";
import { forbidden } from "../../access.ts";
import type { Call } from "../../resource/call.ts";
import type { OwnUser, SessionResponse, SignInMethod } from "../account-operations.ts";
import type { AccountsContext } from "../accounts-context.ts";
import type { StoredUser } from "../users/define-user.ts";
import { createPageCookie } from "./page-cookie.ts";
import { isSameOrigin } from "./same-origin.ts";
import type { Client } from "./sessions.ts";

/** Headers of a response that is for one client alone. */
export const personalHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
};

/** Signs a user in. */
export async function startSession(
  { sessions, user }: Pick<AccountsContext, "sessions" | "user">,
  call: Call,
  { found, method }: { readonly found: Stored<StoredUser>; readonly method: SignInMethod },
): Promise<SessionResponse> {
  const grant = await sessions.begin(found, { method, ...clientOf(call) });
  // Its resource says what it shows to the user itself.
  return { ...grant, user: user.present(found, { user: found }) as unknown as OwnUser };
}

/**
 * Signs a user in on a page of the same origin, by a cookie that scripts do not read.
 *
 * @throws Problem 403 for a request of another origin, which would sign in a browser without its
 * user's knowledge
 */
export async function startPageSession(
  context: Pick<AccountsContext, "isSecure" | "sessions" | "user">,
  call: Call,
  signedIn: { readonly found: Stored<StoredUser>; readonly method: SignInMethod },
): Promise<Response> {
  requireSameOrigin(context, call);
  const { expiresIn, token, user } = await startSession(context, call, signedIn);
  const cookie = createPageCookie(context).set(token, expiresIn);
  return json({ user }, { status: 201, headers: { ...personalHeaders, "set-cookie": cookie } });
}

/** Refuses requests that no page of this origin has sent. */
export function requireSameOrigin(
  context: Pick<AccountsContext, "isSecure">,
  { request }: Pick<Call, "request">,
): void {
  if (!isSameOrigin(request, context))
    throw forbidden("only pages of this origin can sign in here");
}

/** Describes the client of a call, for its user to recognize. */
export function clientOf({ context, request }: Pick<Call, "context" | "request">): Client {
  return { address: context.ip, agent: request.headers.get("user-agent") ?? undefined };
}
