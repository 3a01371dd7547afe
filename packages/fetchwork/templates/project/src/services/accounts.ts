// #if users
import type { Store } from "@fetchwork/documents";
import type { Account, AccountSource, Fields } from "@fetchwork/rest";
import { user } from "../api/user/model.ts";

/** Finds the users who sign in. */
export function createAccounts(store: Store): AccountSource {
  const users = store.collection(user.collection);
  return {
    async byId(id) {
      return toAccount(await users.get(id));
    },
    async byEmail(email) {
      const [found] = await users.find({ where: { email }, limit: 1 });
      return toAccount(found);
    },
  };
}

function toAccount(document: Fields | undefined): Account | undefined {
  if (!document) return undefined;
  return {
    id: String(document["id"]),
    role: String(document["role"]),
    passwordHash: String(document["passwordHash"]),
    sessionVersion: Number(document["sessionVersion"]),
  };
}
// #endif
