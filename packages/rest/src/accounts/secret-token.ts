import { createHash, randomBytes } from "node:crypto";

/** Makes a secret of 256 random bits, as 43 URL-safe characters. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a secret of {@link newSecret}; others need no lookup. */
export function isSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/**
 * SHA-256 in hex, for what nobody has to read in the store: addresses in keys, and secrets, which
 * need neither salt nor cost with their 256 random bits.
 */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
