import { decodeBase64, encodeBase64 } from "@fetchwork/kit";
import { joinBytes } from "./hmac-key.ts";

/** A key pair, or its public half, for Ed25519 (RFC 8032). */
export interface Ed25519Key {
  /** Returns the signature in base64; `undefined` when there is only a public key. */
  readonly sign: ((prefix: string, body: string | Uint8Array) => Promise<string>) | undefined;
  /** Returns whether a base64 signature is valid; `undefined` when there is only a private key. */
  readonly verify:
    | ((signature: string, prefix: string, body: string | Uint8Array) => Promise<boolean>)
    | undefined;
}

// The bytes before a key in PKCS #8 and in SPKI (RFC 8410, 7 and 4).
const privatePrefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const publicPrefix = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/**
 * Reads a private key after `whsk_` (a seed of 32 bytes, or seed and public key), or a public key
 * after `whpk_`, in base64. Returns `undefined` for anything else.
 */
export function createEd25519Key(text: string): Ed25519Key | undefined {
  const bytes = decodeBase64(text.slice(5));
  if (bytes === undefined) return undefined;
  if (text.startsWith("whpk_") && bytes.length === 32) {
    return { sign: undefined, verify: verifierOf(bytes) };
  }
  if (!text.startsWith("whsk_") || (bytes.length !== 32 && bytes.length !== 64)) return undefined;
  const pair = bytes.length === 64 ? verifierOf(bytes.slice(32)) : undefined;
  return { sign: signerOf(bytes.slice(0, 32)), verify: pair };
}

function signerOf(seed: Uint8Array): NonNullable<Ed25519Key["sign"]> {
  let imported: Promise<CryptoKey> | undefined;
  return async (prefix, body) => {
    const der = Uint8Array.from([...privatePrefix, ...seed]);
    imported ??= crypto.subtle.importKey("pkcs8", der, "Ed25519", false, ["sign"]);
    const signature = await crypto.subtle.sign("Ed25519", await imported, joinBytes(prefix, body));
    return encodeBase64(new Uint8Array(signature));
  };
}

function verifierOf(point: Uint8Array): NonNullable<Ed25519Key["verify"]> {
  let imported: Promise<CryptoKey> | undefined;
  return async (signature, prefix, body) => {
    const bytes = decodeBase64(signature);
    // Accepts one encoding of each signature only: the last base64 digit has unused bits.
    if (bytes?.length !== 64 || encodeBase64(bytes) !== signature) return false;
    const der = Uint8Array.from([...publicPrefix, ...point]);
    imported ??= crypto.subtle.importKey("spki", der, "Ed25519", false, ["verify"]);
    return crypto.subtle.verify("Ed25519", await imported, bytes, joinBytes(prefix, body));
  };
}
