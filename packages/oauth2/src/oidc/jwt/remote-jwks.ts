import type { CryptoKey, JWK } from "jose";
import { JOSENotSupported, JWKSMultipleMatchingKeys, JWKSNoMatchingKey } from "jose/errors";
import { createLocalJWKSet } from "jose/jwks/local";
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

/** Finds one of the keys of a set; `undefined` when none fits. */
type KeyFinder = (header: JwtHeader) => Promise<CryptoKey | undefined>;

/** Members of a JWK that are read; whatever else a server publishes is not, also private ones. */
const publicMembers = ["kty", "crv", "x", "y", "n", "e", "pub"] as const;
const usageMembers = ["kid", "use", "key_ops"] as const;
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
  #find: KeyFinder = () => Promise.resolve(undefined);
  /** Keys that were found before, of the same fetch. */
  #found = new Map<string, CryptoKey>();
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
    const found = this.#found.get(nameOf(header));
    return found !== undefined && this.#isYoungerThan(maxAge) ? found : this.#findKey(header);
  }

  async #findKey(header: JwtHeader): Promise<CryptoKey> {
    if (!this.#isYoungerThan(maxAge)) await this.#refetch(header);
    let key = await this.#lookUp(header);
    if (key === undefined && !this.#isYoungerThan(cooldown)) {
      await this.#fetchOnce();
      key = await this.#lookUp(header);
    }
    if (key !== undefined) return key;
    throw new TokenValidationError("the issuer has no key that fits the token", { claim: "kid" });
  }

  async #lookUp(header: JwtHeader): Promise<CryptoKey | undefined> {
    const found = this.#found;
    const key = await this.#find(header);
    if (key !== undefined) found.set(nameOf(header), key);
    return key;
  }

  /** Fetches the keys again because they are old; if that fails, an old fitting key will do. */
  async #refetch(header: JwtHeader): Promise<void> {
    const isStale = !this.#isYoungerThan(maxAge + maxStale);
    const old = isStale ? undefined : await this.#find(header).catch(ignore);
    const fetched = this.#fetchOnce();
    if (old === undefined) return fetched;
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
      this.#find = await fetchKeys(new URL(this.url), this.#source);
      this.#found = new Map();
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

async function fetchKeys(url: URL, source: DocumentSource): Promise<KeyFinder> {
  const accept = "application/json, application/jwk-set+json";
  const { keys } = await source(url, { what: "the key set", accept });
  if (!Array.isArray(keys) || !keys.every(isJsonRecord))
    throw new MetadataError("the key set has no list of keys");
  // As OpenID Connect Core, 10.1 has it: without `kid` there must be one key that fits.
  const find = createLocalJWKSet({ keys: keys.slice(0, maxKeys).map(publicHalf) });
  return async ({ alg, kid }) => {
    try {
      return await find(kid === undefined ? { alg } : { alg, kid });
    } catch (cause) {
      // Algorithms with a secret are not supported: secrets are not published.
      if (cause instanceof JWKSNoMatchingKey || cause instanceof JOSENotSupported) return undefined;
      if (!(cause instanceof JWKSMultipleMatchingKeys))
        throw new MetadataError("a key of the issuer is malformed", { cause });
      const message = "several keys of the issuer fit the token";
      throw new TokenValidationError(message, { claim: "kid" });
    }
  };
}

/** The members that are read. `EdDSA` and `Ed25519` are one algorithm, which the curve names. */
function publicHalf(key: JsonRecord): JWK {
  const isEdwards = key["crv"] === "Ed25519" && /^Ed(?:DSA|25519)$/.test(String(key["alg"]));
  const names = [...publicMembers, ...usageMembers, ...(isEdwards ? [] : ["alg"])];
  const given = names.filter((name) => key[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, key[name]]));
}

/** A name for a key and the algorithm that it is used with. Only found keys are cached by it. */
function nameOf({ alg, kid }: JwtHeader): string {
  return kid === undefined ? alg : `${alg} ${kid}`;
}
