/** A stream of Node that encodes, as far as we use it. */
export interface ZlibStream {
  write(chunk: Uint8Array, callback: (error?: Error | null) => void): boolean;
  read(): Uint8Array<ArrayBuffer> | null;
  end(): unknown;
  destroy(): unknown;
  on(event: "readable" | "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** Options of an encoder; each coding knows some. */
export interface ZlibOptions {
  readonly level?: number;
  readonly flush?: number;
  readonly chunkSize?: number;
  readonly params?: Readonly<Record<number, number>>;
}

type Bytes = Uint8Array<ArrayBuffer>;
type EncodeNow = (body: string | Uint8Array, options: ZlibOptions) => Bytes;
type EncodeLater = (
  body: string | Uint8Array,
  options: ZlibOptions,
  done: (error: Error | null, encoded: Bytes) => void,
) => void;
type MakeStream = (options: ZlibOptions) => ZlibStream;

/** Node's module `zlib`, as far as we use it; Bun, Deno and Workers have it too. Zstandard came with Node 22.15. */
export interface NativeZlib {
  readonly constants: Readonly<Record<string, number>>;
  readonly gzipSync: EncodeNow;
  readonly gzip: EncodeLater;
  readonly createGzip: MakeStream;
  readonly brotliCompressSync: EncodeNow;
  readonly brotliCompress: EncodeLater;
  readonly createBrotliCompress: MakeStream;
  readonly zstdCompressSync?: EncodeNow;
  readonly zstdCompress?: EncodeLater;
  readonly createZstdCompress?: MakeStream;
}

/** Finds `zlib` without an import, which would keep the package from loading elsewhere. */
export function findZlib(): NativeZlib | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  const found = process?.getBuiltinModule?.("node:zlib");
  const isZlib = typeof found === "object" && found !== null && "createBrotliCompress" in found;
  return isZlib ? (found as NativeZlib) : undefined;
}
