import { hkdfSync } from "node:crypto";
import { seal, unseal, type Store } from "@fetchwork/documents";
import { DocumentTokenStore, type TokenHash, type TokenStore } from "@fetchwork/oauth2";
import { identityCollection, keptTokenCollection } from "./identity.ts";

/** Where tokens of providers are kept, by identity; any number of processes share it. */
export type KeptTokens = TokenStore & Required<Pick<TokenStore, "lock">>;

/** Keeps tokens sealed, each for its key: one that is moved in the database cannot be opened. */
export function createKeptTokens(store: Store, secret: string): KeptTokens {
  const documents = new DocumentTokenStore(store.collection(keptTokenCollection));
  const key = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(32), "provider tokens", 32));
  return {
    async get(id) {
      const sealed = (await documents.get(id))?.["sealed"];
      const text = typeof sealed === "string" ? open(key, id, sealed) : undefined;
      // Sealed by `set`: nobody else can have written it.
      return text === undefined ? undefined : (JSON.parse(text) as TokenHash);
    },
    set: (id, token) => documents.set(id, { sealed: seal(key, id, [JSON.stringify(token)]) }),
    delete: (id) => documents.delete(id),
    lock: (id, work) => documents.lock(id, work),
  };
}

/** Ends the link of an identity and removes its stored token, after a refresh under way. */
export async function forgetIdentity(
  store: Store,
  id: string,
  tokens: KeptTokens,
): Promise<TokenHash | undefined> {
  // First, so that what keeps a token afterwards sees that it is not to be kept.
  await store.collection(identityCollection).remove(id);
  return tokens.lock(id, async () => {
    const token = await tokens.get(id);
    await tokens.delete(id);
    return token;
  });
}

function open(key: Buffer, id: string, sealed: string): string | undefined {
  try {
    return new TextDecoder().decode(unseal(key, id, sealed));
  } catch {
    return undefined; // Damaged, moved, or sealed with another secret.
  }
}
