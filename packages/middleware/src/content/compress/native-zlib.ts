import { builtinModule } from "../../runtime/builtin-module.ts";

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

/** Finds `zlib`, where the runtime has all of it that is older than Zstandard. */
export function findZlib(): NativeZlib | undefined {
  const zlib = builtinModule<NativeZlib>("node:zlib");
  const isWhole =
    zlib?.constants !== undefined &&
    zlib.gzipSync !== undefined &&
    zlib.gzip !== undefined &&
    zlib.createGzip !== undefined &&
    zlib.brotliCompressSync !== undefined &&
    zlib.brotliCompress !== undefined &&
    zlib.createBrotliCompress !== undefined;
  return isWhole ? (zlib as NativeZlib) : undefined;
}
