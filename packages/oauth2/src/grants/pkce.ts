import { encodeBase64Url } from "@fetchwork/kit";

const encoder = new TextEncoder();

/** Makes a PKCE code verifier of 43 characters with 256 bits of entropy (RFC 7636, 4.1). */
export function generateCodeVerifier(): string {
  return randomValue();
}

/** Makes a value for `state`, which ties callback and browser (RFC 6749, 10.12). */
export function randomState(): string {
  return randomValue();
}

/** Makes a value for `nonce`, which ties the ID token to the request (OIDC Core, 3.1.2.1). */
export function randomNonce(): string {
  return randomValue();
}

/** Computes the `S256` code challenge of a code verifier (RFC 7636, 4.2). */
export async function codeChallenge(codeVerifier: string): Promise<string> {
  return sha256Base64Url(codeVerifier);
}

/** The base64url of the SHA-256 of a text in UTF-8. */
export async function sha256Base64Url(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(text));
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
