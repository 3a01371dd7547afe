/**
 * Makes a value that nobody can guess: 32 random bytes in base64url, 43 characters. Good as `state`, `nonce`, `jti` and
 * PKCE code verifier.
 */
export function randomValue(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return encodeBase64Url(bytes);
}

/** Encodes bytes as base64url without padding (RFC 4648, 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
