import { builtinModule } from "./platform.ts";

interface CryptoModule {
  readonly createHash: (algorithm: "sha1") => {
    update(text: string): { digest(encoding: "hex"): string };
  };
}

/**
 * A short hash of a text, for names and entity tags and never for secrets: SHA-1 where the runtime
 * has `node:crypto`, else 64 bits of FNV-1a. `crypto.subtle` only returns promises, and waiting for
 * one costs more than the hash.
 */
export function shortHash(text: string): string {
  const { createHash } = builtinModule<CryptoModule>("node:crypto") ?? {};
  if (createHash !== undefined) return createHash("sha1").update(text).digest("hex");
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0xc59d1c81);
}

function fnv1a(text: string, basis: number): string {
  let hash = basis;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
