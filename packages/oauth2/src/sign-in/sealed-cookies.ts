import { encodeBase64Url } from "@fetchwork/kit";
import { decode } from "jose/base64url";
import { optionError } from "../errors.ts";
import { parseJsonRecord, type JsonRecord } from "../json-record.ts";

/** Short-lived cookies that nobody can read or change, one for each value that is kept. */
export interface SealedCookies {
  /**
   * Makes the value of `Set-Cookie` that keeps a record under an identifier until `expiresAt`, in
   * seconds since 1970.
   *
   * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when browsers would refuse the cookie for its size
   */
  seal(id: string, record: object, expiresAt: number): Promise<string>;
  /** Returns the record; `undefined` when it is missing, forged, or sealed for another client. */
  open(request: Request, id: string): Promise<JsonRecord | undefined>;
  /** Makes the value of `Set-Cookie` that removes a cookie. */
  removal(id: string): string;
  /** Removals of the oldest cookies, so that a browser never exceeds servers' header limit. */
  surplus(request: Request): string[];
}

/** Characters of `state` in the name of its cookie: 96 bits. */
const idLength = 16;
/** Cookies that a browser keeps at the same time, which is one for each tab that signs in. */
const maxCookies = 5;
/** RFC 6265bis, 5.6: browsers ignore a longer cookie. */
const maxLength = 4096;
const ivLength = 12;
const encoder = new TextEncoder();

/** Makes {@link SealedCookies}: AES-256-GCM by HKDF; name, expiry, audience authenticated. */
export function createSealedCookies(options: {
  readonly secret: string;
  /** Purpose of the cookies. A cookie that was sealed for another purpose does not open. */
  readonly audience: string;
  readonly isSecure: boolean;
  readonly sameSite: "Lax" | "None";
  /** In seconds. */
  readonly lifetime: number;
}): SealedCookies {
  const { audience, isSecure, sameSite, lifetime } = options;
  // RFC 6265bis, 4.1.3.2: no other host and no `http` page can have set a cookie with this prefix.
  const prefix = `${isSecure ? "__Host-" : ""}sign-in-`;
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}${isSecure ? "; Secure" : ""}`;
  let derived: Promise<CryptoKey> | undefined;
  const key = (): Promise<CryptoKey> => (derived ??= deriveKey(options.secret));
  const nameOf = (id: string): string => prefix + id.slice(0, idLength);
  const cipher = (iv: Uint8Array<ArrayBuffer>, name: string, expiry: string): AesGcmParams => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(JSON.stringify([name, expiry, audience])),
  });
  const remove = (name: string): string => `${name}=; ${attributes}; Max-Age=0`;

  return {
    async seal(id, record, expiresAt) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const name = nameOf(id);
      const text = encoder.encode(JSON.stringify(record));
      const parameters = cipher(iv, name, String(expiresAt));
      const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters, await key(), text));
      const bytes = new Uint8Array(ivLength + sealed.length);
      bytes.set(iv);
      bytes.set(sealed, ivLength);
      const pair = `${name}=${expiresAt}.${encodeBase64Url(bytes)}`;
      if (pair.length > maxLength)
        throw optionError("data", "too large for a cookie", "at most about 1,000 characters");
      return `${pair}; ${attributes}; Max-Age=${lifetime}`;
    },
    async open(request, id) {
      const name = nameOf(id);
      const [expiry = "", data = ""] = cookiesOf(request).get(name)?.split(".") ?? [];
      if (data.length > maxLength) return undefined;
      try {
        const bytes = decode(data);
        const parameters = cipher(bytes.slice(0, ivLength), name, expiry);
        const sealed = bytes.slice(ivLength);
        const text = await crypto.subtle.decrypt(parameters, await key(), sealed);
        return parseJsonRecord(new TextDecoder().decode(text));
      } catch {
        return undefined; // None, forged, or sealed with another secret.
      }
    },
    removal: (id) => remove(nameOf(id)),
    surplus(request) {
      return [...cookiesOf(request)]
        .filter(([name]) => name.startsWith(prefix) && name.length === prefix.length + idLength)
        .toSorted(([, a], [, b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
        .slice(0, 1 - maxCookies)
        .map(([name]) => remove(name));
    },
  };
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const bytes = encoder.encode(secret);
  const material = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  const info = encoder.encode("@fetchwork/oauth2/sign-in 1");
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
  const wanted = { name: "AES-GCM", length: 256 };
  return crypto.subtle.deriveKey(algorithm, material, wanted, false, ["encrypt", "decrypt"]);
}

function cookiesOf({ headers }: Request): ReadonlyMap<string, string> {
  const pairs = headers.get("cookie")?.split(";") ?? [];
  return new Map(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
