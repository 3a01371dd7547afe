import type * as jose from "jose";
import { OAuth2UsageError, optionError } from "./errors.ts";

/** A key to sign with: `CryptoKey`, JWK, PKCS #8 in PEM, the bytes or the text of a shared secret, Node's `KeyObject`. */
export type SigningKey = jose.CryptoKey | SigningJwk | Uint8Array | string | NodeKeyObject;

/** A key as JWK (RFC 7517, 4; RFC 7518, 6), such as the `JsonWebKey` of the platform. */
export interface SigningJwk {
  readonly kty?: string;
  readonly alg?: string;
  readonly kid?: string;
  readonly use?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly d?: string;
  readonly n?: string;
  readonly e?: string;
  readonly p?: string;
  readonly q?: string;
  readonly dp?: string;
  readonly dq?: string;
  readonly qi?: string;
  readonly k?: string;
  readonly ext?: boolean;
  readonly key_ops?: string[];
  readonly oth?: { readonly r?: string; readonly d?: string; readonly t?: string }[];
}

/** Node's `KeyObject`, as far as this package looks. */
export interface NodeKeyObject {
  readonly type: "private" | "public" | "secret";
  readonly asymmetricKeyType?: string | undefined;
  readonly asymmetricKeyDetails?: object | undefined;
  readonly symmetricKeySize?: number | undefined;
}

/** Header of a JWT that {@link signJwt} makes. */
export interface SigningHeader {
  /** Algorithm, such as `RS256`. Default: that of the JWK, else the one that belongs to the key. */
  readonly algorithm?: string | undefined;
  /** Identifier of the key. Default: that of the JWK. */
  readonly kid?: string | undefined;
  /** Kind of token, such as `dpop+jwt`. Default: none. */
  readonly typ?: string | undefined;
}

/** Algorithms that sign; anything else, `none` above all, is refused before a request is made. */
const algorithms: ReadonlySet<string> = new Set([
  "HS256",
  "HS384",
  "HS512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "Ed25519",
  "EdDSA",
]);

/**
 * Signs claims as they are: nothing is added to them, nothing checked (RFC 7519).
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when the algorithm is unknown or does not fit the key
 */
export async function signJwt(
  claims: object,
  key: SigningKey,
  header: SigningHeader = {},
): Promise<string> {
  const { SignJWT } = await loadJose();
  const jwk = isJwk(key) ? key : undefined;
  const algorithm = header.algorithm ?? jwk?.alg ?? algorithmOf(key);
  if (algorithm === undefined || !algorithms.has(algorithm)) {
    // Not what was found: where arguments are mixed up, that is the key.
    const found = algorithm === undefined ? undefined : "unknown";
    throw optionError("algorithm", found, `one of ${[...algorithms].join(", ")}`);
  }
  const kid = header.kid ?? jwkKid(jwk);
  try {
    return await new SignJWT({ ...claims })
      .setProtectedHeader({
        ...(header.typ === undefined ? {} : { typ: header.typ }),
        ...(kid === undefined ? {} : { kid }),
        alg: algorithm,
      })
      .sign(await importKey(key, algorithm));
  } catch (error) {
    if (error instanceof OAuth2UsageError) throw error;
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", `the key cannot sign with ${algorithm}`, {
      cause: error,
    });
  }
}

async function importKey(
  key: SigningKey,
  algorithm: string,
): Promise<jose.CryptoKey | Uint8Array | jose.KeyObject> {
  const { importJWK, importPKCS8 } = await loadJose();
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

function isJwk(key: SigningKey): key is SigningJwk {
  return typeof key === "object" && !(key instanceof Uint8Array) && "kty" in key;
}

function jwkKid(jwk: SigningJwk | undefined): string | undefined {
  return typeof jwk?.kid === "string" ? jwk.kid : undefined;
}

function algorithmOf(key: SigningKey): string | undefined {
  if (key instanceof CryptoKey) return algorithmOfCryptoKey(key.algorithm);
  if (!isJwk(key)) return undefined;
  if (key.kty === "RSA") return "RS256";
  if (key.kty === "OKP") return "EdDSA";
  return curves.get(key.crv ?? "");
}

const curves: ReadonlyMap<string, string> = new Map([
  ["P-256", "ES256"],
  ["P-384", "ES384"],
  ["P-521", "ES512"],
]);

function algorithmOfCryptoKey(algorithm: KeyAlgorithm): string | undefined {
  const { name } = algorithm;
  if (name === "Ed25519") return "EdDSA";
  if (name === "ECDSA" && "namedCurve" in algorithm)
    return curves.get(String(algorithm.namedCurve));
  if (!("hash" in algorithm)) return undefined;
  const { hash } = algorithm;
  const bits =
    typeof hash === "object" && hash !== null && "name" in hash ? String(hash.name).slice(4) : "";
  if (name === "RSASSA-PKCS1-v1_5") return `RS${bits}`;
  if (name === "RSA-PSS") return `PS${bits}`;
  return name === "HMAC" ? `HS${bits}` : undefined;
}

/** Loads jose when a first key is used: who signs nothing never pays for it. */
function loadJose(): Promise<typeof jose> {
  return import("jose");
}
