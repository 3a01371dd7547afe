import { createHash, randomBytes } from "node:crypto";

/** Makes a secret of 256 random bits, as 43 URL-safe characters. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Whether a text has the form of a secret of {@link newSecret}; nothing else needs a look into the store. */
export function isSecret(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** SHA-256 in hex, under which a secret is stored: one of 256 random bits needs neither salt nor cost. */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
