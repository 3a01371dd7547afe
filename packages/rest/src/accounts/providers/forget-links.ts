import type { Transaction } from "@fetchwork/documents";
import { identityCollection, keptTokenCollection } from "./identity.ts";

/**
 * Ends all links of a user to providers, and forgets their tokens; the providers are not told. A
 * refresh under way cannot store its token any more, since the one that it renews is gone.
 */
export async function forgetLinks(transaction: Transaction, userId: string): Promise<void> {
  const identities = transaction.collection(identityCollection);
  const links = await identities.find({ where: { userId } });
  if (links.length === 0) return;
  await identities.removeMany({ where: { userId } });
  const { DocumentTokenStore } = await import("@fetchwork/oauth2");
  const tokens = new DocumentTokenStore(transaction.collection(keptTokenCollection));
  for (const { id } of links) await tokens.delete(id);
}
