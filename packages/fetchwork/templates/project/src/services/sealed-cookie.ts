// #if oidc
/** Keeps something in a cookie that nobody can read or change. */
export interface SealedCookie {
  /** Value of `Set-Cookie` with the text in it. */
  seal(text: string): Promise<string>;
  /** Reads the cookie of a request; `undefined` unless it is there, ours, and young enough. */
  open(request: Request): Promise<string | undefined>;
  /** Value of `Set-Cookie` that removes it. */
  readonly removal: string;
}

/** What a {@link SealedCookie} is. */
export interface SealedCookieOptions {
  readonly name: string;
  /** The only path that it is sent to. */
  readonly path: string;
  /** Whether it is sent by HTTPS only. */
  readonly isSecure: boolean;
  /** Time to live, in seconds. */
  readonly lifetime: number;
  readonly secret: string;
}

const encoder = new TextEncoder();

/** Makes a {@link SealedCookie}: AES-256-GCM, with the name, the path and the expiry authenticated too. */
export function createSealedCookie(options: SealedCookieOptions): SealedCookie {
  const { path, isSecure, lifetime, secret } = options;
  const name = `${isSecure ? "__Secure-" : ""}${options.name}`;
  const attributes = `Path=${path}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  let derived: Promise<CryptoKey> | undefined;
  const key = (): Promise<CryptoKey> => (derived ??= deriveKey(secret));
  const bound = (expiry: string): Uint8Array<ArrayBuffer> =>
    encoder.encode(`${name} ${path} ${expiry}`);

  return {
    removal: `${name}=; ${attributes}; Max-Age=0`,
    async seal(text) {
      const expiry = String(Math.floor(Date.now() / 1000) + lifetime);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const parameters = { name: "AES-GCM", iv, additionalData: bound(expiry) };
      const sealed = await crypto.subtle.encrypt(parameters, await key(), encoder.encode(text));
      const bytes = Buffer.concat([iv, new Uint8Array(sealed)]);
      return `${name}=${expiry}.${bytes.toString("base64url")}; ${attributes}; Max-Age=${lifetime}`;
    },
    async open(request) {
      const [expiry = "", data = ""] = valueOf(request, name)?.split(".") ?? [];
      if (!/^\d{1,12}$/.test(expiry) || Number(expiry) <= Date.now() / 1000) return undefined;
      const bytes = new Uint8Array(Buffer.from(data, "base64url"));
      const parameters = {
        name: "AES-GCM",
        iv: bytes.subarray(0, 12),
        additionalData: bound(expiry),
      };
      try {
        const opened = await crypto.subtle.decrypt(parameters, await key(), bytes.subarray(12));
        return new TextDecoder().decode(opened);
      } catch {
        return undefined; // Forged, or of another secret.
      }
    },
  };
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, [
    "deriveKey",
  ]);
  const info = encoder.encode("sealed cookies");
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
  const wanted = { name: "AES-GCM", length: 256 };
  return crypto.subtle.deriveKey(algorithm, material, wanted, false, ["encrypt", "decrypt"]);
}

function valueOf({ headers }: Request, name: string): string | undefined {
  const pairs = headers.get("cookie")?.split(";") ?? [];
  const pair = pairs.map((one) => one.trim()).find((one) => one.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}
// #endif
