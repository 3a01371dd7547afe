// #if users
import { empty, json } from "@fetchwork/http";
import type { Account, Call } from "@fetchwork/rest";
import { notFound } from "@fetchwork/rest/handlers";
import { user } from "../user/model.ts";

type AuthCall = Call<unknown, Account>;

export async function signIn({ store, tokens, user: caller }: AuthCall): Promise<Response> {
  const [token, found] = await Promise.all([
    tokens.issue(caller),
    store.collection(user.collection).get(caller.id),
  ]);
  if (!found) throw notFound();
  const headers = { "cache-control": "no-store" };
  return json({ token, user: user.present(found, { user: found }) }, { status: 201, headers });
}

/** Another session version makes all tokens of the user invalid. */
export async function signOut({ store, user: caller }: AuthCall): Promise<Response> {
  await store.collection(user.collection).update(caller.id, (current) => ({
    sessionVersion: current.sessionVersion + 1,
  }));
  return empty();
}
// #endif
