import type { Store, Transaction } from "@fetchwork/documents";
import { identities } from "../api/social/model.ts";

/**
 * Ends all links of a user to providers, in a transaction; what is returned forgets their tokens after it. The providers
 * are not told.
 */
export async function forgetLinks(
  store: Store,
  transaction: Transaction,
  userId: string,
): Promise<() => Promise<void>> {
  const links = await transaction.collection(identities).find({ where: { userId } });
  await transaction.collection(identities).removeMany({ where: { userId } });
  return async () => {
    if (links.length === 0) return;
    const { forgetIdentity } = await import("./kept-tokens.ts");
    for (const { id } of links) await forgetIdentity(store, id);
  };
}
