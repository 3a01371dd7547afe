import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { checkOptions } from "../check-options.ts";
import { TokenStoreError } from "../errors.ts";
import { parseJsonRecord } from "../json-record.ts";
import type { TokenStore } from "../store/token-store.ts";
import type { TokenHash } from "../token/token-hash.ts";
import { FileTokenStore } from "./file-token-store.ts";
import type { LeaseOptions } from "../store/lease.ts";

/** Options of {@link openKeychainTokenStore}. */
export interface KeychainTokenStoreOptions extends LeaseOptions {
  /** Name in the keychain, which the system may show to the user. Default: `fetchwork-oauth2`. */
  readonly service?: string | undefined;
}

/** The part of the class `AsyncEntry` of `@napi-rs/keyring` that is used. */
export type KeychainEntry = new (
  service: string,
  account: string,
  options: object,
) => {
  getPassword(): Promise<string | null | undefined>;
  setPassword(password: string): Promise<void>;
};

const algorithm = "aes-256-gcm";
const [keyLength, ivLength, authTagLength] = [32, 12, 16];

/**
 * Opens a store in a folder that processes share like a `FileTokenStore`, but with encrypted
 * tokens. Their key is in the keychain of the system: Keychain of macOS, Credential Manager of
 * Windows, or a Secret Service such as GNOME Keyring. Needs the package `@napi-rs/keyring`.
 *
 * @throws TokenStoreError when the package is not installed, the system has no keychain, it is
 * locked, or it no longer has the key of the folder; OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export async function openKeychainTokenStore(
  folder: string,
  options: KeychainTokenStoreOptions = {},
): Promise<TokenStore> {
  return openStore(loadKeyring, folder, options);
}

/** The same with what loads the library. */
export async function openStore(
  load: () => KeychainEntry,
  folder: string,
  options: KeychainTokenStoreOptions,
): Promise<TokenStore> {
  checkOptions("openKeychainTokenStore", options, ["service", "leaseTime", "lockTimeout"]);
  const { service = "fetchwork-oauth2", leaseTime, lockTimeout } = options;
  const files = new FileTokenStore(folder, { leaseTime, lockTimeout });
  const Entry = load();
  // One of the processes that open a new folder at the same time makes the key.
  const key = await files.lock("keychain", () => keyOf(files, Entry, service));
  return {
    async get(name) {
      const stored = await files.get(`token ${name}`);
      return stored === undefined ? undefined : unseal(key, name, stored);
    },
    set: (name, token) => files.set(`token ${name}`, seal(key, name, token)),
    delete: (name) => files.delete(`token ${name}`),
    lock: (name, work) => files.lock(`token ${name}`, work),
  };
}

function loadKeyring(): KeychainEntry {
  try {
    // A bundler must not look for it. The library exports this class.
    const require = createRequire(import.meta.url);
    return (require("@napi-rs/keyring") as { AsyncEntry: KeychainEntry }).AsyncEntry;
  } catch (cause) {
    throw new TokenStoreError("a package is missing: npm install @napi-rs/keyring", { cause });
  }
}

/** Reads the key of a folder from the keychain, or makes it where the folder is new. */
async function keyOf(files: TokenStore, Entry: KeychainEntry, service: string): Promise<Buffer> {
  const known = (await files.get("keychain"))?.["account"];
  const account = typeof known === "string" ? known : randomUUID();
  let text: string | null | undefined;
  try {
    // Without a Secret Service the library would take a store of the kernel that does not last.
    const entry = new Entry(service, account, { linux: { store: "secret-service" } });
    if (known === undefined) await entry.setPassword(randomBytes(keyLength).toString("base64"));
    text = await entry.getPassword();
  } catch (cause) {
    throw new TokenStoreError("the system has no keychain, or it is locked", { cause });
  }
  const key = Buffer.from(text ?? "", "base64");
  if (key.length !== keyLength) {
    const message = "the keychain has no key of the tokens: remove their folder and sign in again";
    throw new TokenStoreError(message);
  }
  if (known === undefined) await files.set("keychain", { account });
  return key;
}

/** Encrypts a token; the name is authenticated, so that files cannot be exchanged. */
function seal(key: Buffer, name: string, token: TokenHash): TokenHash {
  const iv = randomBytes(ivLength);
  const sealing = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(name));
  const bytes = [iv, sealing.update(JSON.stringify(token)), sealing.final(), sealing.getAuthTag()];
  return { sealed: Buffer.concat(bytes).toString("base64") };
}

function unseal(key: Buffer, name: string, { sealed }: TokenHash): TokenHash {
  const bytes = Buffer.from(String(sealed), "base64");
  try {
    const iv = bytes.subarray(0, ivLength);
    const opening = createDecipheriv(algorithm, key, iv, { authTagLength });
    opening.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-authTagLength));
    const text = [opening.update(bytes.subarray(ivLength, -authTagLength)), opening.final()];
    return parseJsonRecord(String(Buffer.concat(text))) ?? {};
  } catch (cause) {
    throw new TokenStoreError("a token is damaged, or was stored by another store", { cause });
  }
}
