import { encodeBase64Url } from "@fetchwork/kit";

const encoder = new TextEncoder();

/**
 * Computes `at_hash` or `c_hash`: the left half of the hash that the signature algorithm uses, in
 * base64url (OpenID Connect Core, 3.1.3.6).
 *
 * @returns `undefined` for algorithms without such a hash
 */
export async function hashClaim(algorithm: string, value: string): Promise<string | undefined> {
  const name = hashName(algorithm);
  if (name === undefined) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest(name, encoder.encode(value)));
  return encodeBase64Url(digest.subarray(0, digest.length / 2));
}

function hashName(algorithm: string): string | undefined {
  // Ed25519 signs with SHA-512 inside.
  if (algorithm === "EdDSA" || algorithm === "Ed25519") return "SHA-512";
  const size = /^(?:HS|RS|PS|ES)(256|384|512)$/.exec(algorithm)?.[1];
  return size === undefined ? undefined : `SHA-${size}`;
}
