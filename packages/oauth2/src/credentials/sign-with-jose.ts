import type { CryptoKey, JWTHeaderParameters } from "jose";
import { SignJWT } from "jose/jwt/sign";
import { importJWK, importPKCS8 } from "jose/key/import";
import { OAuth2UsageError } from "../errors.ts";
import { isJwk, type SigningKey } from "./signing-key.ts";

/** Signs claims with a key that has been checked. */
export async function signWithJose(
  claims: object,
  key: SigningKey,
  header: JWTHeaderParameters,
): Promise<string> {
  const imported = await importKey(key, header.alg);
  return new SignJWT({ ...claims }).setProtectedHeader(header).sign(imported);
}

async function importKey(key: SigningKey, algorithm: string): Promise<CryptoKey | Uint8Array> {
  if (typeof key === "string") {
    if (algorithm.startsWith("HS")) return new TextEncoder().encode(key);
    if (key.includes("-----BEGIN PRIVATE KEY-----")) return importPKCS8(key, algorithm);
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      'the key is text, but not PKCS #8 in PEM ("-----BEGIN PRIVATE KEY-----")',
    );
  }
  if (isJwk(key)) return importJWK({ ...key, kty: key.kty ?? "" }, algorithm);
  return key;
}
