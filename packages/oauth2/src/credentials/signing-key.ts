import type { CryptoKey, JWK } from "jose";

/** A signing key: `CryptoKey`, JWK, PKCS #8 PEM, a shared secret. */
export type SigningKey = CryptoKey | SigningJwk | Uint8Array | string;

/** A key as JWK (RFC 7517, 4; RFC 7518, 6), such as the `JsonWebKey` of the platform. */
export type SigningJwk = Readonly<Partial<JWK>>;

/** Whether a key is a JWK. */
export function isJwk(key: SigningKey): key is SigningJwk {
  return typeof key === "object" && !(key instanceof Uint8Array) && "kty" in key;
}
