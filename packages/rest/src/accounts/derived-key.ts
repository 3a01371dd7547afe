import { hkdfSync } from "node:crypto";

/** Derives a key for one purpose of a secret (RFC 5869), so that what one key signs means nothing to another. */
export function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `fetchwork accounts: ${purpose}`, 32));
}
