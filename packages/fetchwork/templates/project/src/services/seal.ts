// #if oidc
/** Encrypts text so that nobody else can read or change it. */
export interface Seal {
  /** Gives the sealed bytes; they open with the same context only. */
  seal(text: string, context: string): Promise<Buffer>;
  /** Gives the text back; `undefined` when it is damaged, or of another secret, purpose or context. */
  open(sealed: Buffer, context: string): Promise<string | undefined>;
}

/** What a {@link Seal} is made of. */
export interface SealOptions {
  readonly secret: string;
  /** Keeps keys of one secret apart: what is sealed for one purpose cannot be used for another. */
  readonly purpose: string;
}

const encoder = new TextEncoder();
const ivLength = 12;

/** Makes a {@link Seal}: AES-256-GCM with a key derived by HKDF; the context is authenticated too. */
export function createSeal(options: SealOptions): Seal {
  let derived: Promise<CryptoKey> | undefined;
  const key = (): Promise<CryptoKey> => (derived ??= deriveKey(options));

  return {
    async seal(text, context) {
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const parameters = { name: "AES-GCM", iv, additionalData: encoder.encode(context) };
      const sealed = await crypto.subtle.encrypt(parameters, await key(), encoder.encode(text));
      return Buffer.concat([iv, new Uint8Array(sealed)]);
    },
    async open(sealed, context) {
      const bytes = new Uint8Array(sealed);
      const iv = bytes.subarray(0, ivLength);
      const parameters = { name: "AES-GCM", iv, additionalData: encoder.encode(context) };
      try {
        const text = await crypto.subtle.decrypt(parameters, await key(), bytes.subarray(ivLength));
        return new TextDecoder().decode(text);
      } catch {
        return undefined; // Forged, or of another secret.
      }
    },
  };
}

async function deriveKey({ secret, purpose }: SealOptions): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, [
    "deriveKey",
  ]);
  const info = encoder.encode(purpose);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
  const wanted = { name: "AES-GCM", length: 256 };
  return crypto.subtle.deriveKey(algorithm, material, wanted, false, ["encrypt", "decrypt"]);
}
// #endif
