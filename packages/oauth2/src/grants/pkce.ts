import { encodeBase64Url } from "@fetchwork/kit";

const encoder = new TextEncoder();

/**
 * Computes the `S256` code challenge of a code verifier (RFC 7636, 4.2): the SHA-256 of a text in
 * base64url, which a DPoP proof has of its access token too (RFC 9449, 4.2).
 */
export async function codeChallenge(codeVerifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(codeVerifier));
  return encodeBase64Url(new Uint8Array(digest));
}

/**
 * Generates an unguessable value: 32 random bytes in base64url, 43 characters. For `state`,
 * `nonce`, `jti` and PKCE code verifier.
 */
export function randomValue(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return encodeBase64Url(bytes);
}
