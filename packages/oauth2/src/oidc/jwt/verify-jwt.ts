import type { CryptoKey } from "jose";
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { JWSSignatureVerificationFailed } from "jose/errors";
import { compactVerify } from "jose/jws/compact/verify";
import { signatureAlgorithms } from "../../credentials/sign-jwt.ts";
import { OAuth2UsageError } from "../../errors.ts";
import { TokenValidationError } from "../errors.ts";
import { parseJsonRecord, type JsonRecord } from "../../json-record.ts";
import { RemoteJwks, type JwtHeader } from "./remote-jwks.ts";

/** Key that checks a signature: `Uint8Array` is a client secret, for `HS256` to `HS512`. */
export type VerificationKey = CryptoKey | Uint8Array;

/** Source of the key of a JWT. A function receives the protected header, not verified yet. */
export type KeySource =
  | RemoteJwks
  | VerificationKey
  | ((header: JwtHeader) => VerificationKey | Promise<VerificationKey>);

/** A JWT with a good signature; its claims are not checked. */
export interface VerifiedJwt {
  readonly header: JwtHeader;
  readonly claims: JsonRecord;
}

/** Options of {@link verifyJwt}. */
export interface VerifyJwtOptions {
  readonly key: KeySource;
  /** Algorithms that are accepted (RFC 8725, 3.1). `none` never is. */
  readonly algorithms: readonly string[];
  /** Name of the token in error messages: `ID token`. */
  readonly what: string;
}

/** Longest JWT that is looked at, in characters. */
const maxLength = 65_536;

const decoder = new TextDecoder("utf-8", { fatal: true });
const known: ReadonlySet<string> = new Set([
  ...signatureAlgorithms,
  "ML-DSA-44",
  "ML-DSA-65",
  "ML-DSA-87",
]);

/** Whether an algorithm signs with a private key and is supported. */
export function isKeyAlgorithm(algorithm: string): boolean {
  return known.has(algorithm) && !algorithm.startsWith("HS");
}

/** The kind of token that a header names, in lower case and without `application/`. */
export function typeOf({ typ }: JwtHeader): string | undefined {
  return typ?.toLowerCase().replace(/^application\//, "");
}

/**
 * Checks the algorithms that a caller allows.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for an empty list, `none`, and for an unknown
 * signature algorithm
 */
export function checkAlgorithms(algorithms: readonly string[], what: string): void {
  if (!Array.isArray(algorithms) || algorithms.length === 0)
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      `${what} must list at least one signature algorithm`,
    );
  for (const algorithm of algorithms as readonly unknown[]) {
    if (typeof algorithm !== "string" || !known.has(algorithm))
      throw new OAuth2UsageError(
        "ERR_OAUTH_OPTION",
        `${what} has ${JSON.stringify(algorithm)}, which is unknown`,
      );
  }
}

/**
 * Verifies the signature of a JWT in compact form (RFC 7515, 5.2) and reads its claims, without
 * checking them.
 *
 * @throws TokenValidationError for anything but a JWT that the key has signed
 */
export async function verifyJwt(jwt: string, options: VerifyJwtOptions): Promise<VerifiedJwt> {
  const { key, what } = options;
  const header = readHeader(jwt, options);
  const found =
    key instanceof RemoteJwks ? key.getKey(header) : typeof key === "function" ? key(header) : key;
  const verificationKey = found instanceof Promise ? await found : found;
  const payload = await verifySignature(jwt, verificationKey, options);
  const claims = parseJsonRecord(payload);
  if (claims === undefined) throw new TokenValidationError(`the ${what} has no claims`);
  return { header, claims };
}

async function verifySignature(
  jwt: string,
  key: VerificationKey,
  { algorithms, what }: VerifyJwtOptions,
): Promise<string> {
  try {
    const { payload } = await compactVerify(jwt, key, { algorithms: algorithms as string[] });
    return decoder.decode(payload);
  } catch (cause) {
    const isForged = cause instanceof JWSSignatureVerificationFailed;
    const reason = isForged ? "has a wrong signature" : "cannot be verified";
    throw new TokenValidationError(`the ${what} ${reason}`, { cause });
  }
}

function readHeader(jwt: string, { algorithms, what }: VerifyJwtOptions): JwtHeader {
  if (typeof jwt !== "string" || jwt.length > maxLength)
    throw new TokenValidationError(`the ${what} is not a JWT of at most ${maxLength} characters`);
  const parts = jwt.split(".", 6);
  if (parts.length === 5) throw new TokenValidationError(`the ${what} is encrypted`);
  const header = parts.length === 3 ? parseHeader(jwt) : undefined;
  if (header === undefined) throw new TokenValidationError(`the ${what} is not a JWT`);
  if (!isJwtHeader(header)) throw new TokenValidationError(`the ${what} has a malformed header`);
  if (!algorithms.includes(header.alg) || !known.has(header.alg)) {
    const found = JSON.stringify(header.alg.slice(0, 20));
    const message = `the alg of the ${what} must be ${algorithms.join(" or ")}, got ${found}`;
    throw new TokenValidationError(message, { claim: "alg" });
  }
  if (header["crit"] !== undefined)
    throw new TokenValidationError(`the ${what} has critical extensions`, { claim: "crit" });
  return header;
}

function isJwtHeader(header: JsonRecord): header is JwtHeader {
  const { alg, kid, typ } = header;
  return typeof alg === "string" && isOptionalText(kid) && isOptionalText(typ);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function parseHeader(jwt: string): JsonRecord | undefined {
  try {
    return decodeProtectedHeader(jwt);
  } catch {
    return undefined;
  }
}
