import { isLoopbackHost } from "@fetchwork/kit";
import { checkAmount, checkTexts, optionError } from "../check-options.ts";

/** A key of Web Crypto, by whatever name the platform's types have it. */
export type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A key of JWTs: bytes of a secret, a public key, or a function of `jose` that finds the key. */
export type BearerKey =
  | Uint8Array
  | WebCryptoKey
  | ((protectedHeader: never, token: never) => Promise<WebCryptoKey> | WebCryptoKey);

interface JwtOptions {
  readonly key?: BearerKey | undefined;
  readonly jwksUrl?: string | URL | undefined;
  readonly issuer?: string | readonly string[] | undefined;
  readonly audience?: string | readonly string[] | undefined;
  readonly algorithms?: readonly string[] | undefined;
  readonly clockTolerance?: number | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/** RFC 7518, 3.2: a key for HS256 has at least the size of the hash. */
const minSecretBytes = 32;

const secretAlgorithms = ["HS256"];
const publicAlgorithms = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];

/** Makes a function that returns the claims of a valid JWT, or undefined; loads `jose` late. */
export function jwtVerifier(options: JwtOptions): (token: string) => Promise<Claims | undefined> {
  const { key, jwksUrl, clockTolerance = 0 } = options;
  const issuer = namesOf(options.issuer, "issuer");
  const audience = namesOf(options.audience, "audience");
  const isSecret = key instanceof Uint8Array;
  const algorithms = [...(options.algorithms ?? (isSecret ? secretAlgorithms : publicAlgorithms))];
  checkTexts(algorithms, "algorithms");
  if (algorithms.length === 0) throw optionError("algorithms", [], "at least one algorithm");
  for (const algorithm of algorithms) {
    // A public key that is taken for a secret lets everybody sign (RFC 8725, 2.1).
    if (/^HS\d+$/.test(algorithm) === isSecret && algorithm.toLowerCase() !== "none") continue;
    throw optionError("algorithm", algorithm, isSecret ? "HS256, HS384 or HS512" : "a signature");
  }
  checkAmount(clockTolerance, "clockTolerance", 0);
  if (clockTolerance === Infinity) throw optionError("clockTolerance", Infinity, "seconds");
  if (isSecret && key.byteLength < minSecretBytes) {
    throw optionError("key", `${key.byteLength} bytes`, `at least ${minSecretBytes} bytes`);
  }
  const url = jwksUrl === undefined ? undefined : checkUrl(jwksUrl);
  const load = async () => {
    const { createRemoteJWKSet, errors, jwtVerify } = await import("jose");
    const find = url === undefined ? key : createRemoteJWKSet(url);
    const checks = { issuer, audience, algorithms, clockTolerance, requiredClaims: ["exp"] };
    return async (token: string): Promise<Claims | undefined> => {
      try {
        const { payload } =
          typeof find === "function"
            ? await jwtVerify(token, find as Parameters<typeof jwtVerify>[1], checks)
            : await jwtVerify(token, find as CryptoKey | Uint8Array, checks);
        return payload;
      } catch (error) {
        // Faults of the key set's server are not the client's.
        const isOfServer =
          error instanceof errors.JWKSTimeout ||
          error instanceof errors.JWKSInvalid ||
          error instanceof errors.JWKInvalid ||
          // For a response of the key set's server that is not 200.
          (error instanceof errors.JOSEError && error.constructor === errors.JOSEError);
        if (error instanceof errors.JOSEError && !isOfServer) return undefined;
        throw error;
      }
    };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return async (token) => {
    loaded ??= load();
    return await (
      await loaded
    )(token);
  };
}

function namesOf(value: string | readonly string[] | undefined, what: string): string[] {
  const names = typeof value === "string" ? [value] : [...(value ?? [])];
  checkTexts(names, what);
  if (names.length === 0 || names.includes("")) {
    throw optionError(what, value, "the name or names that a token must have");
  }
  return names;
}

/** Keys that anybody on the way can replace are worth nothing, except on one's own machine. */
function checkUrl(given: string | URL): URL {
  const url = URL.parse(String(given));
  const isLocal = url !== null && isLoopbackHost(url.hostname);
  if (url === null || !(url.protocol === "https:" || (url.protocol === "http:" && isLocal))) {
    throw optionError("jwksUrl", String(given), "an https: URL");
  }
  return url;
}
