import { decodeBase64 } from "@fetchwork/kit";
import { OAuth2UsageError, optionError } from "../errors.ts";
import { checkOptions } from "../check-options.ts";
import { isJwk, type SigningKey } from "./signing-key.ts";

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
export const signatureAlgorithms: ReadonlySet<string> = new Set([
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
  checkOptions("signJwt", header, ["algorithm", "kid", "typ"]);
  const jwk = isJwk(key) ? key : undefined;
  const algorithm = header.algorithm ?? jwk?.alg ?? algorithmOf(key);
  if (algorithm === undefined || !signatureAlgorithms.has(algorithm)) {
    // Not what was found: where arguments are mixed up, that is the key.
    const found = algorithm === undefined ? undefined : "unknown";
    throw optionError("algorithm", found, `one of ${[...signatureAlgorithms].join(", ")}`);
  }
  const kid = header.kid ?? (typeof jwk?.kid === "string" ? jwk.kid : undefined);
  try {
    // Loaded when a first key is used: who signs nothing never pays for jose.
    const { signWithJose } = await import("./sign-with-jose.ts");
    const typ = header.typ === undefined ? {} : { typ: header.typ };
    const named = kid === undefined ? {} : { kid };
    return await signWithJose(claims, key, { ...typ, ...named, alg: algorithm });
  } catch (error) {
    if (error instanceof OAuth2UsageError) throw error;
    throw new OAuth2UsageError("ERR_OAUTH_OPTION", `the key cannot sign with ${algorithm}`, {
      cause: error,
    });
  }
}

/**
 * Checks a key before anything is signed with it, and finds its algorithm.
 *
 * @param option - Name of the option that the key is, for the message.
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function checkSigningKey(key: unknown, algorithm: string | undefined, option: string): void {
  if (algorithm !== undefined && !signatureAlgorithms.has(algorithm)) {
    const expected = `one of ${[...signatureAlgorithms].join(", ")}`;
    throw optionError(`the algorithm of ${option}`, algorithm, expected);
  }
  const isShared = algorithm?.startsWith("HS") === true;
  if (!isSigningKey(key, isShared)) {
    // Not what was found: it may be half of a key.
    const expected = "a private key: CryptoKey, JWK, or PKCS #8 in PEM";
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      `the key of ${option} is invalid, expected ${expected}`,
    );
  }
  const known = algorithm ?? (isJwk(key) ? key.alg : undefined) ?? algorithmOf(key);
  if (known === undefined) {
    const expected = "set, because the key does not tell it";
    throw optionError(`the algorithm of ${option}`, undefined, expected);
  }
}

function isSigningKey(key: unknown, isShared: boolean): key is SigningKey {
  if (typeof key === "string") return isShared ? key !== "" : pemBytes(key) !== undefined;
  if (typeof key !== "object" || key === null) return false;
  if (key instanceof Uint8Array) return isShared && key.length > 0;
  if (key instanceof CryptoKey) return key.usages.includes("sign");
  return "kty" in key && ("d" in key || "k" in key);
}

function algorithmOf(key: SigningKey): string | undefined {
  if (typeof key === "string") return algorithmOfPem(key);
  if (key instanceof Uint8Array) return undefined;
  if (key instanceof CryptoKey) return algorithmOfCryptoKey(key.algorithm);
  if (key.kty === "RSA") return "RS256";
  if (key.kty === "OKP") return "EdDSA";
  return curves.get(key.crv ?? "");
}

const curves: ReadonlyMap<string, string> = new Map([
  ["P-256", "ES256"],
  ["P-384", "ES384"],
  ["P-521", "ES512"],
]);

/** Identifiers of keys and curves in DER (RFC 5208, 5; RFC 5480, 2.1.1.1; RFC 8410, 3). */
const identifiers: readonly (readonly [der: string, algorithm: string])[] = [
  ["06092a864886f70d010101", "RS256"],
  ["06092a864886f70d01010a", "PS256"],
  ["06082a8648ce3d030107", "ES256"],
  ["06052b81040022", "ES384"],
  ["06052b81040023", "ES512"],
  ["06032b6570", "EdDSA"],
];

/** The identifier stands at the beginning of the key, before what is secret. */
function algorithmOfPem(pem: string): string | undefined {
  const head = Array.from(pemBytes(pem)?.subarray(0, 40) ?? [], (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  return identifiers.find(([der]) => head.includes(der))?.[1];
}

function pemBytes(pem: string): Uint8Array | undefined {
  const body = /-----BEGIN PRIVATE KEY-----([^-]*)-----END PRIVATE KEY-----/.exec(pem)?.[1];
  const bytes = decodeBase64((body ?? "").replaceAll(/\s/g, ""));
  return bytes === undefined || bytes.length === 0 ? undefined : bytes;
}

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
