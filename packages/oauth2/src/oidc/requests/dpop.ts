import type { CryptoKey, JWK } from "jose";
import { calculateJwkThumbprint } from "jose/jwk/thumbprint";
import { SignJWT } from "jose/jwt/sign";
import { exportJWK } from "jose/key/export";
import { generateKeyPair } from "jose/key/generate/keypair";
import { optionError } from "../../errors.ts";
import type { ProofTarget, RequestProof } from "../../connection/proof.ts";
import type { OAuth2Response } from "../../message/response.ts";
import { parseChallenges } from "../parse-challenges.ts";
import { codeChallenge, randomValue } from "../../grants/pkce.ts";
import { checkOptions } from "../../check-options.ts";

/** Signature algorithms of DPoP proofs. */
export type DPoPAlgorithm = "ES256" | "ES384" | "ES512" | "Ed25519" | "PS256" | "RS256";

/** Options of {@link DPoP.generate}. */
export interface GenerateDPoPOptions {
  /** Default: `ES256`, which every server that has DPoP takes. */
  readonly algorithm?: DPoPAlgorithm | undefined;
}

/** Key pair of {@link DPoP.fromKeys}. */
export interface DPoPKeys {
  readonly privateKey: CryptoKey;
  /** Must be extractable: each proof shows it. */
  readonly publicKey: CryptoKey;
  readonly algorithm: DPoPAlgorithm;
}

const algorithms: readonly string[] = ["ES256", "ES384", "ES512", "Ed25519", "PS256", "RS256"];
/** Maximum origins whose nonce is stored. */
const maxNonces = 100;
/** Longest nonce that is stored, and the characters of one (RFC 9449, 8.1). */
const noncePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;

/**
 * Proves possession of a key with every request (RFC 9449), so that a stolen token is of no use.
 * One instance stands for one key; it remembers the nonce of each server.
 */
export class DPoP implements RequestProof {
  /** Thumbprint of the public key (RFC 7638), the `dpop_jkt` of an authorization request. */
  readonly thumbprint: string;
  readonly #privateKey: CryptoKey;
  readonly #header: { readonly alg: string; readonly typ: "dpop+jwt"; readonly jwk: JWK };
  readonly #nonces = new Map<string, string>();

  private constructor(keys: DPoPKeys, jwk: JWK, thumbprint: string) {
    this.#privateKey = keys.privateKey;
    this.#header = { alg: keys.algorithm, typ: "dpop+jwt", jwk };
    this.thumbprint = thumbprint;
  }

  /**
   * Makes a new key, which cannot be exported; {@link DPoP.fromKeys} takes one that is stored.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for an unknown algorithm
   */
  static async generate(options: GenerateDPoPOptions = {}): Promise<DPoP> {
    checkOptions("DPoP.generate", options, ["algorithm"]);
    const { algorithm = "ES256" } = options;
    checkAlgorithm(algorithm);
    return DPoP.fromKeys({ ...(await generateKeyPair(algorithm)), algorithm });
  }

  /**
   * Uses a key that exists.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for keys that are not a pair of private and
   * extractable public key
   */
  static async fromKeys(keys: DPoPKeys): Promise<DPoP> {
    checkOptions("DPoP.fromKeys", keys, ["privateKey", "publicKey", "algorithm"]);
    const { privateKey, publicKey, algorithm } = keys;
    checkAlgorithm(algorithm);
    if (privateKey?.type !== "private" || !privateKey.usages.includes("sign"))
      throw optionError("privateKey", privateKey?.type, "a private key that may sign");
    if (publicKey?.type !== "public" || !publicKey.extractable)
      throw optionError("publicKey", publicKey?.type, "an extractable public key");
    const jwk = await exportJWK(publicKey);
    return new DPoP(keys, jwk, await calculateJwkThumbprint(jwk));
  }

  /** Makes the value of the `DPoP` field of one request (RFC 9449, 4.2). */
  async prove({ method, url, token }: ProofTarget): Promise<string> {
    const nonce = this.#nonces.get(url.origin);
    const ath = token === undefined ? undefined : await codeChallenge(token);
    const claims = {
      jti: randomValue(),
      htm: method,
      // Without query and fragment.
      htu: `${url.origin}${url.pathname}`,
      iat: Math.floor(Date.now() / 1000),
      ...(ath !== undefined && { ath }),
      ...(nonce !== undefined && { nonce }),
    };
    return new SignJWT(claims).setProtectedHeader(this.#header).sign(this.#privateKey);
  }

  /**
   * Stores the nonce of a response for the next proof for that origin (RFC 9449, 8 and 9). Beyond
   * 100 origins the least recently used is dropped.
   *
   * @returns whether the request must be sent again
   */
  accept(response: OAuth2Response, { url }: ProofTarget): boolean {
    const { status, headers } = response;
    const nonce = headers.get("dpop-nonce");
    if (!isNonce(nonce)) return false;
    this.#remember(url.origin, nonce);
    // Also when the nonce is known: another request may have brought it after this one was sent.
    if (status !== 400 && status !== 401) return false;
    const challenges = parseChallenges(headers.get("www-authenticate"));
    const errors = challenges.map(({ parameters }) => parameters.get("error"));
    return [response.hash?.["error"], ...errors].includes("use_dpop_nonce");
  }

  #remember(origin: string, nonce: string): void {
    this.#nonces.delete(origin);
    this.#nonces.set(origin, nonce);
    const [oldest = origin] = this.#nonces.keys();
    if (this.#nonces.size > maxNonces) this.#nonces.delete(oldest);
  }
}

function isNonce(nonce: string | null): nonce is string {
  return nonce !== null && noncePattern.test(nonce);
}

function checkAlgorithm(algorithm: unknown): void {
  if (typeof algorithm === "string" && algorithms.includes(algorithm)) return;
  throw optionError("algorithm", algorithm, algorithms.join(", "));
}
