import type { Store } from "@fetchwork/documents";
import type { Account, AccountSource } from "@fetchwork/rest";
import { user, type User } from "../api/user/model.ts";

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

function toAccount(document: User | undefined): Account | undefined {
  if (!document) return undefined;
  const { id, passwordHash, role, sessionVersion } = document;
  return { id, passwordHash, role, sessionVersion };
}
