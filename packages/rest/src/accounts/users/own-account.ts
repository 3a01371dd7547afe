import type { Stored } from "@fetchwork/documents";
import { forbidden, requireOwner } from "../../access.ts";
import type { Account } from "../../account.ts";
import { notFound } from "../../problem.ts";
import type { Call } from "../../resource/call.ts";
import type { AccountsContext } from "../accounts-context.ts";
import type { StoredUser } from "./define-user.ts";

/** Description of {@link ownUserOrAdmin} for the reference. */
export const ownOrAdmin = "Of the caller (`me`); admins may name any user";

/** A call on behalf of a user. */
export type AccountCall<Body = unknown> = Call<Body, Account>;

/** Reads the user in the path; `me` is the caller. */
export function userIdOf({ params, user }: Pick<AccountCall, "params" | "user">): string {
  const id = params["id"] ?? "";
  return id === "me" ? user.id : id;
}

/** Refuses API keys: they neither see nor change what somebody signs in with. */
export function refuseKeys({ user }: Pick<AccountCall, "user">): void {
  if (user.apiKey !== undefined) throw forbidden("an API key cannot do this: sign in");
}

/**
 * Finds the user in the path, for itself alone.
 *
 * @throws Problem 404 for nobody, 403 for another user, an admin too, and for an API key.
 */
export async function ownUser(
  { user: { collection } }: AccountsContext,
  call: Pick<AccountCall, "params" | "store" | "user">,
): Promise<Stored<StoredUser>> {
  refuseKeys(call);
  const found = await call.store.collection(collection).get(userIdOf(call));
  if (found === undefined) throw notFound("user");
  if (found.id !== call.user.id) throw forbidden("users can change this only for themselves");
  return found;
}

/**
 * Finds the user in the path, for itself and for admins.
 *
 * @throws Problem 403 for another user, and for an API key.
 */
export async function ownUserOrAdmin(
  { user: { collection } }: AccountsContext,
  call: Pick<AccountCall, "params" | "store" | "user">,
): Promise<Stored<StoredUser>> {
  refuseKeys(call);
  const id = userIdOf(call);
  requireOwner(call.user, id);
  const found = await call.store.collection(collection).get(id);
  if (found === undefined) throw notFound("user");
  return found;
}
