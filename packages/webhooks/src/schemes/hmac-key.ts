import { encodeBase64 } from "@fetchwork/kit";

/** A hash algorithm, by its name in Web Crypto. */
export type HashName = "SHA-1" | "SHA-256" | "SHA-512";

/** How a digest is encoded. */
export type DigestEncoding = "hex" | "base64";

/** A key for HMAC (RFC 2104), imported once. */
interface HmacKey {
  /** Returns the digest of a prefix and a body, one after the other. */
  digest(encoding: DigestEncoding, prefix: string, body: string | Uint8Array): Promise<string>;
}

/** A key object of Node. */
interface NativeKey {
  readonly type: string;
}

interface NativeHmac {
  update(data: string | Uint8Array): NativeHmac;
  digest(encoding: "hex" | "base64"): string;
}

/** The part of `node:crypto` that this package uses; Bun and Deno have it too. */
interface NativeCrypto {
  createHmac(hash: string, key: NativeKey): NativeHmac;
  createSecretKey(bytes: Uint8Array): NativeKey;
}

const encoder = new TextEncoder();

/** Imports a key: with Node's crypto where there is one, else with Web Crypto. */
export function createHmacKey(secret: Uint8Array<ArrayBuffer>, hash: HashName): HmacKey {
  const native = nativeCrypto();
  if (native === undefined) return webKey(secret, hash);
  const name = hash.replace("-", "").toLowerCase();
  const key = native.createSecretKey(secret);
  return {
    digest: (encoding, prefix, body) => {
      const hmac = native.createHmac(name, key);
      const whole = (prefix === "" ? hmac : hmac.update(prefix)).update(body);
      return Promise.resolve(whole.digest(encoding));
    },
  };
}

/**
 * `node:crypto` where there is one, without an import that would fail on other runtimes. For small
 * messages it is many times faster than Web Crypto, which uses a thread for each message.
 */
function nativeCrypto(): NativeCrypto | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  const module = process?.getBuiltinModule?.("node:crypto") as Partial<NativeCrypto> | undefined;
  if (typeof module?.createHmac !== "function") return undefined;
  if (typeof module.createSecretKey !== "function") return undefined;
  return module as NativeCrypto;
}

function webKey(secret: Uint8Array<ArrayBuffer>, hash: HashName): HmacKey {
  // Imported on first use: the rejection of an import that is not awaited would be unhandled.
  let imported: Promise<CryptoKey> | undefined;
  return {
    digest: async (encoding, prefix, body) => {
      imported ??= crypto.subtle.importKey("raw", secret, { name: "HMAC", hash }, false, ["sign"]);
      const digest = await crypto.subtle.sign("HMAC", await imported, joinBytes(prefix, body));
      return encoding === "base64"
        ? encodeBase64(new Uint8Array(digest))
        : encodeHex(new Uint8Array(digest));
    },
  };
}

/** Prepends a text to bytes. */
function joinBytes(prefix: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return encoder.encode(prefix + body);
  const head = encoder.encode(prefix);
  const joined = new Uint8Array(head.length + body.length);
  joined.set(head);
  joined.set(body, head.length);
  return joined;
}

function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}
