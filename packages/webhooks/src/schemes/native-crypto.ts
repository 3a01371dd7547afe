/** A key of Node's own, which never has to be read again. */
export interface NativeKey {
  readonly type: string;
}

interface NativeHmac {
  update(data: string | Uint8Array): NativeHmac;
  digest(encoding: "hex" | "base64"): string;
}

/** The part of `node:crypto` that this package uses; Bun and Deno have it too. */
export interface NativeCrypto {
  createHmac(hash: string, key: NativeKey): NativeHmac;
  createSecretKey(bytes: Uint8Array): NativeKey;
}

/**
 * `node:crypto` where there is one, without an import that other runtimes would stumble over. For small messages it is
 * many times faster than Web Crypto, which goes through a thread for each one.
 */
export function nativeCrypto(): NativeCrypto | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  const module = process?.getBuiltinModule?.("node:crypto") as Partial<NativeCrypto> | undefined;
  if (typeof module?.createHmac !== "function") return undefined;
  if (typeof module.createSecretKey !== "function") return undefined;
  return module as NativeCrypto;
}
