// #if oidc
import type { Store } from "@fetchwork/documents";
import { DocumentTokenStore, type TokenHash, type TokenStore } from "@fetchwork/oauth2";
import { identities, keptTokens } from "../api/social/model.ts";
import type { Seal } from "./seal.ts";

/** Where tokens of providers are kept, by the id of the identity; any number of processes share it. */
export type KeptTokens = TokenStore & Required<Pick<TokenStore, "lock">>;

/** Keeps tokens sealed, each for its key: one that is moved in the database opens no more. */
export function createKeptTokens(store: Store, seal: Seal): KeptTokens {
  const documents = new DocumentTokenStore(store.collection(keptTokens));
  return {
    async get(key) {
      const sealed = (await documents.get(key))?.["sealed"];
      if (typeof sealed !== "string") return undefined;
      const text = await seal.open(Buffer.from(sealed, "base64url"), key);
      // Sealed by `set`: nobody else can have written it.
      return text === undefined ? undefined : (JSON.parse(text) as TokenHash);
    },
    async set(key, token) {
      const sealed = await seal.seal(JSON.stringify(token), key);
      await documents.set(key, { sealed: sealed.toString("base64url") });
    },
    delete: (key) => documents.delete(key),
    lock: (key, work) => documents.lock(key, work),
  };
}

/** Ends the link of an identity and takes its token out of the store, after a refresh that is under way. */
export async function forgetIdentity(
  store: Store,
  id: string,
  tokens: KeptTokens = new DocumentTokenStore(store.collection(keptTokens)),
): Promise<TokenHash | undefined> {
  // First, so that whoever keeps a token afterwards sees that it is not to be kept.
  await store.collection(identities).remove(id);
  return tokens.lock(id, async () => {
    const token = await tokens.get(id);
    await tokens.delete(id);
    return token;
  });
}
// #endif
