// #if oidc
import { createHash } from "node:crypto";
import { defineCollection } from "@fetchwork/documents";
import type { TokenDocument } from "@fetchwork/oauth2";

/** Says that a user of a provider is one of ours. */
export interface Identity {
  readonly issuer: string;
  /** The user at the provider. */
  readonly sub: string;
  /** The user here. */
  readonly userId: string;
}

export const identities = defineCollection<Identity>("identities", { indexes: ["userId"] });

/** Tokens of providers, sealed, and locks for their renewal. */
export const keptTokens = defineCollection<TokenDocument>("keptTokens");

/** Id of an identity's document: one per user of a provider. */
export function identityId(issuer: string, sub: string): string {
  return createHash("sha256")
    .update(JSON.stringify([issuer, sub]))
    .digest("base64url");
}

/** Parameters that providers add to the callback. */
export const callbackParameters = [
  "authuser",
  "code",
  "error",
  "error_description",
  "error_uri",
  "hd",
  "iss",
  "prompt",
  "scope",
  "session_state",
  "state",
] as const;

/** Where to send the browser to link an account. */
export const link = {
  type: "object",
  properties: { url: { type: "string", format: "uri", description: "Open it in this browser" } },
  required: ["url"],
};

/** What a provider says of the caller. */
export const userInfo = {
  type: "object",
  properties: { sub: { type: "string", description: "The user at the provider" } },
  required: ["sub"],
  additionalProperties: true,
};

/** What became of a link. */
export const unlinked = {
  type: "object",
  properties: {
    revoked: {
      type: "boolean",
      description: "Whether no token is left at the provider; else it holds there until it expires",
    },
  },
  required: ["revoked"],
};
// #endif
