import type { Store, Transaction } from "@fetchwork/documents";
import type { Account } from "../../account.ts";
import { bearerRequired } from "../../access.ts";
import type { UserResource } from "./define-user.ts";

/** A user whose sessions had not ended when it was read. */
export type SignedIn = Pick<Account, "id" | "sessionVersion">;

/**
 * Stores a credential of a user, unless the sessions of the user were ended since it was
 * authenticated: what was begun before they ended is not added after it.
 *
 * @throws Problem 401 when they were.
 */
export function whileSignedIn<T>(
  store: Store,
  { collection }: UserResource,
  { id, sessionVersion }: SignedIn,
  add: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return store.transaction(async (transaction) => {
    const current = await transaction.collection(collection).get(id);
    if (current?.sessionVersion !== sessionVersion) throw bearerRequired("", "sign in again");
    return add(transaction);
  });
}
