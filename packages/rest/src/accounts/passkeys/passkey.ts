import { createHash } from "node:crypto";
import { type CollectionDefinition, defineCollection } from "@fetchwork/documents";

/** A passkey of a user: a key pair of which the server has the public half (WebAuthn Level 3). */
export interface Passkey {
  readonly user: string;
  /** Name that the user chose for the passkey. */
  readonly name: string;
  /** Identifier of the credential, in base64url. */
  readonly credential: string;
  /** In COSE form, in base64url. */
  readonly publicKey: string;
  /** Signatures so far, where the authenticator counts them; a lower number shows a copy. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** Whether it is kept in a cloud, and so on more than one device. */
  readonly isBackedUp: boolean;
  /** Time when it was last used, in milliseconds since 1970; `null` before. */
  readonly usedAt: number | null;
}

/** Something to be signed, once and soon. Its identifier is the challenge. */
export interface PasskeyChallenge {
  /** The user who adds a passkey; `null` for a sign-in, whose user shows with the response. */
  readonly user: string | null;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

export const passkeyCollection: CollectionDefinition<Passkey> = defineCollection<Passkey>(
  "passkeys",
  { indexes: ["user"] },
);

export const challengeCollection: CollectionDefinition<PasskeyChallenge> =
  defineCollection<PasskeyChallenge>("passkey-challenges", { expires: { field: "expiresAt" } });

/** Identifier of the document of a credential, whose own may be longer than identifiers are. */
export function passkeyId(credential: string): string {
  return createHash("sha256").update(credential).digest("base64url");
}
