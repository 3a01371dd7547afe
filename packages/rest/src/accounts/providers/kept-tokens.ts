import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Store } from "@fetchwork/documents";
import { DocumentTokenStore, type TokenHash, type TokenStore } from "@fetchwork/oauth2";
import { identityCollection, keptTokenCollection } from "./identity.ts";

/** Where tokens of providers are kept, by the id of the identity; any number of processes share it. */
export type KeptTokens = TokenStore & Required<Pick<TokenStore, "lock">>;

const cipher = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

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
    set: (id, token) => documents.set(id, { sealed: seal(key, id, JSON.stringify(token)) }),
    delete: (id) => documents.delete(id),
    lock: (id, work) => documents.lock(id, work),
  };
}

/** Ends the link of an identity and takes its token out of the store, after a refresh that is under way. */
export async function forgetIdentity(
  store: Store,
  id: string,
  tokens: KeptTokens = new DocumentTokenStore(store.collection(keptTokenCollection)),
): Promise<TokenHash | undefined> {
  // First, so that what keeps a token afterwards sees that it is not to be kept.
  await store.collection(identityCollection).remove(id);
  return tokens.lock(id, async () => {
    const token = await tokens.get(id);
    await tokens.delete(id);
    return token;
  });
}

function seal(key: Buffer, id: string, text: string): string {
  const iv = randomBytes(ivLength);
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(id));
  const sealed = [iv, sealing.update(text, "utf8"), sealing.final(), sealing.getAuthTag()];
  return Buffer.concat(sealed).toString("base64url");
}

function open(key: Buffer, id: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  if (bytes.length < ivLength + tagLength) return undefined;
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivLength), {
    authTagLength: tagLength,
  });
  opening.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(-tagLength));
  try {
    const text = opening.update(bytes.subarray(ivLength, -tagLength));
    return Buffer.concat([text, opening.final()]).toString();
  } catch {
    return undefined; // Damaged, moved, or sealed with another secret.
  }
}
