import type { Store } from "@fetchwork/documents";
import { identities } from "../api/social/model.ts";

/** Ends all links of a user to providers and forgets their tokens. The providers are not told. */
export async function forgetLinks(store: Store, userId: string): Promise<void> {
  const links = await store.collection(identities).find({ where: { userId } });
  if (links.length === 0) return;
  const { forgetIdentity } = await import("./kept-tokens.ts");
  for (const { id } of links) await forgetIdentity(store, id);
}
