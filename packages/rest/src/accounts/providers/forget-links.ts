import type { Store, Transaction } from "@fetchwork/documents";
import { identityCollection } from "./identity.ts";

/**
 * Ends all links of a user to providers, in a transaction. Returns what forgets their tokens after
 * the commit; the providers are not told.
 */
export async function forgetLinks(
  store: Store,
  transaction: Transaction,
  userId: string,
): Promise<() => Promise<void>> {
  const identities = transaction.collection(identityCollection);
  const links = await identities.find({ where: { userId } });
  if (links.length === 0) return () => Promise.resolve();
  await identities.removeMany({ where: { userId } });
  return async () => {
    const { forgetIdentity } = await import("./kept-tokens.ts");
    for (const { id } of links) await forgetIdentity(store, id);
  };
}
