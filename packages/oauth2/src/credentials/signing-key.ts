import type { CryptoKey, JWK } from "jose";

/** A signing key: `CryptoKey`, JWK, PKCS #8 PEM, a shared secret, Node's `KeyObject`. */
export type SigningKey = CryptoKey | SigningJwk | Uint8Array | string | NodeKeyObject;

/** A key as JWK (RFC 7517, 4; RFC 7518, 6), such as the `JsonWebKey` of the platform. */
export type SigningJwk = Readonly<Partial<JWK>>;

/** The members of Node's `KeyObject` that this package uses. */
export interface NodeKeyObject {
  readonly type: "private" | "public" | "secret";
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: object | undefined;
  readonly symmetricKeySize?: number | undefined;
}

/** Whether a key is a JWK. */
export function isJwk(key: SigningKey): key is SigningJwk {
  return typeof key === "object" && !(key instanceof Uint8Array) && "kty" in key;
}
