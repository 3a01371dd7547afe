import { createHash } from "node:crypto";
import { type CollectionDefinition, defineCollection } from "@fetchwork/documents";

/** A link: says that a user of a provider is one of ours. */
export interface Identity {
  readonly issuer: string;
  /** The user at the provider. */
  readonly sub: string;
  /** The user here. */
  readonly userId: string;
}

export const identityCollection: CollectionDefinition<Identity> = defineCollection<Identity>(
  "identities",
  { indexes: ["userId"] },
);

/** Sealed tokens of providers, and locks for renewing them; see `DocumentTokenStore`. */
export const keptTokenCollection: CollectionDefinition<{
  token?: string;
  holder?: string;
  until?: number;
}> = defineCollection("keptTokens");

/** Id of the document of an identity: one for each user of a provider. */
export function identityId(issuer: string, sub: string): string {
  return createHash("sha256")
    .update(JSON.stringify([issuer, sub]))
    .digest("base64url");
}
