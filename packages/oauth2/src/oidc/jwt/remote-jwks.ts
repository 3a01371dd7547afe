import type { CryptoKey } from "jose";
import { importJWK } from "jose/key/import";
import type { Connection } from "../../connection/connection.ts";
import { optionError } from "../../errors.ts";
import { MetadataError, TokenValidationError } from "../errors.ts";
import {
  documentOptionNames,
  createDocumentSource,
  type DocumentOptions,
  type DocumentSource,
} from "../metadata/get-document.ts";
import { isJsonRecord, type JsonRecord } from "../../json-record.ts";
import { checkOptions } from "../../check-options.ts";

/** Protected header of a JWT. */
export interface JwtHeader {
  readonly alg: string;
  readonly kid?: string | undefined;
  readonly typ?: string | undefined;
  readonly [parameter: string]: unknown;
}

/** Options of {@link RemoteJwks}. */
export interface RemoteJwksOptions extends DocumentOptions {
  /** Now, in milliseconds. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** Public members of a JWK; whatever else a server publishes is left out, also private ones. */
const publicMembers = ["kty", "crv", "x", "y", "n", "e", "pub"] as const;
/** Keys of a set that are looked at. */
const maxKeys = 200;
/** How long keys are used before they are fetched again, in milliseconds. */
const maxAge = 600_000;
/**
 * Minimum time between two fetches for keys that are not there, in milliseconds: tokens with
 * invented key identifiers must not make us flood the server.
 */
const cooldown = 30_000;
/** Time after a failed fetch in which it is not tried again, in milliseconds. */
const retryAfter = 1000;
/** For how long old keys are used while the issuer's cannot be fetched, in milliseconds. */
const maxStale = 3_600_000;

/**
 * The keys that an issuer publishes at its `jwks_uri` (RFC 7517, 5). Fetched when first needed and
 * kept; fetched again when they are old, and when a token names a key that is not among them. Keys
 * are rotated that way. However many callers wait, there is one fetch. While it fails, old keys are
 * used for an hour more.
 */
export class RemoteJwks {
  /** Where the keys come from. */
  readonly url: string;
  readonly #source: DocumentSource;
  readonly #clock: () => number;
  #keys: readonly JsonRecord[] = [];
  #imported = new Map<string, CryptoKey | Promise<CryptoKey>>();
  #fetchedAt = -Infinity;
  #failedAt = -Infinity;
  #failure: { readonly error: unknown } | undefined;
  #pending: Promise<void> | undefined;

  /**
   * @param connection that of a client, which stands for the options that are about sending
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` for wrong options
   */
  constructor(url: string | URL, options: RemoteJwksOptions = {}, connection?: Connection) {
    checkOptions("RemoteJwks", options, [...documentOptionNames, "clock"]);
    const { clock = Date.now } = options;
    if (!URL.canParse(url)) throw optionError("url", url, "the URL of a key set");
    this.url = new URL(url).href;
    this.#source = createDocumentSource(options, connection);
    this.#clock = clock;
  }

  /**
   * Finds the key that a token was signed with. No promise when it is at hand.
   *
   * @throws TokenValidationError when there is none, or when several fit and the token names none
   * @throws MetadataError, OAuth2ConnectionError when the keys cannot be fetched
   */
  getKey(header: JwtHeader): CryptoKey | Promise<CryptoKey> {
    const imported = this.#imported.get(importedName(header));
    return imported !== undefined && this.#isYoungerThan(maxAge) ? imported : this.#findKey(header);
  }

  async #findKey(header: JwtHeader): Promise<CryptoKey> {
    if (!this.#isYoungerThan(maxAge)) await this.#refetch(header);
    let key = selectKey(this.#keys, header);
    if (key === undefined && !this.#isYoungerThan(cooldown)) {
      await this.#fetchOnce();
      key = selectKey(this.#keys, header);
    }
    if (key === undefined)
      throw new TokenValidationError("the issuer has no key that fits the token", { claim: "kid" });
    return this.#importOnce(key, header);
  }

  #importOnce(key: JsonRecord, header: JwtHeader): CryptoKey | Promise<CryptoKey> {
    const imported = this.#imported;
    const name = importedName(header);
    const known = imported.get(name);
    if (known !== undefined) return known;
    const pending = importKey(key, header.alg).then(
      (cryptoKey) => {
        imported.set(name, cryptoKey);
        return cryptoKey;
      },
      (error: unknown) => {
        imported.delete(name);
        throw error;
      },
    );
    imported.set(name, pending);
    return pending;
  }

  /** Fetches the keys again because they are old; if that fails, an old fitting key will do. */
  async #refetch(header: JwtHeader): Promise<void> {
    const isUsable =
      this.#isYoungerThan(maxAge + maxStale) && selectKey(this.#keys, header) !== undefined;
    const fetched = this.#fetchOnce();
    if (!isUsable) return fetched;
    // A server that has failed and now hangs must not make every caller wait.
    if (this.#failure === undefined) await fetched.catch(ignore);
    else fetched.catch(ignore);
  }

  #isYoungerThan(age: number): boolean {
    return isWithin(this.#clock() - this.#fetchedAt, age);
  }

  async #fetchOnce(): Promise<void> {
    if (this.#failure !== undefined && isWithin(this.#clock() - this.#failedAt, retryAfter)) {
      throw this.#failure.error;
    }
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = undefined;
    });
    await this.#pending;
  }

  async #fetch(): Promise<void> {
    try {
      this.#keys = await fetchKeys(new URL(this.url), this.#source);
      this.#imported = new Map();
      this.#fetchedAt = this.#clock();
      this.#failure = undefined;
    } catch (error) {
      this.#failedAt = this.#clock();
      this.#failure = { error };
      throw error;
    }
  }
}

/** A clock that was set back makes a negative time, which is none to rely on. */
function isWithin(elapsed: number, limit: number): boolean {
  return elapsed >= 0 && elapsed < limit;
}

/** The failure is kept, for callers without a key. */
function ignore(): void {}

async function fetchKeys(url: URL, source: DocumentSource): Promise<readonly JsonRecord[]> {
  const accept = "application/json, application/jwk-set+json";
  const { keys } = await source(url, { what: "the key set", accept });
  if (!Array.isArray(keys) || !keys.every(isJsonRecord))
    throw new MetadataError("the key set has no list of keys");
  return keys.slice(0, maxKeys);
}

async function importKey(key: JsonRecord, algorithm: string): Promise<CryptoKey> {
  const members = publicMembers.filter((name) => key[name] !== undefined);
  const publicKey = Object.fromEntries(members.map((name) => [name, key[name]]));
  try {
    const cryptoKey = await importJWK(publicKey, algorithm);
    // A symmetric key does not belong in a published set: its `k` has been left out above.
    if (cryptoKey instanceof Uint8Array) throw new TypeError("a symmetric key");
    return cryptoKey;
  } catch (cause) {
    throw new MetadataError("a key of the issuer is malformed", { cause });
  }
}

/** A name for a key and the algorithm that it is used with. Only found keys are cached by it. */
function importedName({ alg, kid }: JwtHeader): string {
  return kid === undefined ? alg : `${alg} ${kid}`;
}

/** Selects as OpenID Connect Core, 10.1 has it: without `kid` there must be one key that fits. */
function selectKey(keys: readonly JsonRecord[], header: JwtHeader): JsonRecord | undefined {
  const fitting = keys.filter((key) => fits(key, header));
  if (fitting.length < 2) return fitting[0];
  const message = "several keys of the issuer fit the token";
  throw new TokenValidationError(message, { claim: "kid" });
}

function fits(key: JsonRecord, { alg, kid }: JwtHeader): boolean {
  const { kty, crv, use, alg: keyAlg, key_ops: operations } = key;
  if (kid !== undefined && kid !== key["kid"]) return false;
  if (keyAlg !== undefined && keyAlg !== alg && !(isEdwards(keyAlg) && isEdwards(alg)))
    return false;
  if (use !== undefined && use !== "sig") return false;
  if (Array.isArray(operations) && !operations.includes("verify")) return false;
  const wanted = wantedKind(alg);
  return kty === wanted.kty && (wanted.crv === undefined || crv === wanted.crv);
}

function isEdwards(algorithm: unknown): boolean {
  return algorithm === "EdDSA" || algorithm === "Ed25519";
}

function wantedKind(alg: string): { readonly kty: string; readonly crv?: string } {
  if (/^[RP]S/.test(alg)) return { kty: "RSA" };
  if (isEdwards(alg)) return { kty: "OKP", crv: "Ed25519" };
  if (alg.startsWith("ML-DSA-")) return { kty: "AKP" };
  const curves: Readonly<Record<string, string>> = {
    ES256: "P-256",
    ES384: "P-384",
    ES512: "P-521",
  };
  // `HS256` and the like: secrets are not published, so no key may ever fit.
  return { kty: alg.startsWith("ES") ? "EC" : "none", crv: curves[alg] ?? "none" };
}
