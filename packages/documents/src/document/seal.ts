import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const cipher = "aes-256-gcm";
const ivLength = 12;
const tagLength = 16;

/** Encrypts text or bytes by AES-256-GCM; opened only by the same key (32 bytes) and context. */
export function seal(
  key: Uint8Array,
  context: string,
  parts: readonly (string | Uint8Array)[],
): string {
  const iv = randomBytes(ivLength);
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(context));
  const sealed = parts.map((part) =>
    typeof part === "string" ? sealing.update(part, "utf8") : sealing.update(part),
  );
  sealed.push(sealing.final());
  return Buffer.concat([iv, sealing.getAuthTag(), ...sealed]).toString("base64");
}

/** Decrypts what {@link seal} wrote; throws for another key or context, or changed data. */
export function unseal(key: Uint8Array, context: string, sealed: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(sealed, "base64");
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivLength), {
    authTagLength: tagLength,
  });
  opening.setAAD(Buffer.from(context));
  opening.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength));
  const plain = opening.update(bytes.subarray(ivLength + tagLength));
  return Buffer.concat([plain, opening.final()]);
}
