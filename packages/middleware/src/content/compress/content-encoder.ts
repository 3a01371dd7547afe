import { builtinModule, onWorkers } from "../../runtime/platform.ts";
import { flushChunks, type ZlibStream } from "./flush-chunks.ts";

/** A content coding of {@link compress}. */
export type ContentCoding = "br" | "gzip" | "zstd";

type Bytes = Uint8Array<ArrayBuffer>;

/** Makes one content coding. */
export interface ContentEncoder {
  readonly coding: ContentCoding;
  /** Whether every chunk of a stream goes out as soon as it arrives. */
  readonly flushes: boolean;
  /** Encodes a body that is available as a whole. */
  readonly encode: (body: string | Bytes) => Bytes | Promise<Bytes> | ReadableStream<Bytes>;
  /** Encodes a stream; for `live`, the first chunk goes out before the second is read. */
  readonly encodeStream: (
    body: ReadableStream<Uint8Array>,
    kind: "live" | "any",
  ) => ReadableStream<Bytes>;
}

// Brotli at its maximum of 11 takes more than ten times as long as at 4.
const levels = { gzip: 6, br: 4, zstd: 3 } as const;

/**
 * Maximum size in bytes of a body that is encoded on the calling thread: about 1 ms of gzip. A
 * larger one is encoded on a thread of the pool. That costs a little more CPU time and does not
 * delay other requests.
 */
const syncLimit = 32_768;

/** Finds the encoders of this runtime: all with `zlib` (Node, Bun and Deno), else only gzip. */
export function findEncoders(): ReadonlyMap<ContentCoding, ContentEncoder> {
  const zlib = findZlib();
  const encoders = onWorkers()
    ? [workersGzip]
    : zlib === undefined
      ? platformGzip()
      : zlibEncoders(zlib);
  return new Map(encoders.map((encoder) => [encoder.coding, encoder]));
}

/** Workers encode a response that is marked as encoded, and would encode an encoded body twice. */
const workersGzip: ContentEncoder = {
  coding: "gzip",
  flushes: false,
  encode: (body) => streamOf(body),
  encodeStream: (body) => body as ReadableStream<Bytes>,
};

/** `CompressionStream`, which has no level and no flush. */
function platformGzip(): ContentEncoder[] {
  const { CompressionStream } = globalThis as {
    readonly CompressionStream?: typeof globalThis.CompressionStream;
  };
  if (CompressionStream === undefined) return [];
  const encodeStream = (body: ReadableStream<Uint8Array>): ReadableStream<Bytes> =>
    // It accepts any bytes; the types restrict the memory that holds them.
    body.pipeThrough(
      new CompressionStream("gzip") as unknown as ReadableWritablePair<Bytes, Uint8Array>,
    );
  return [
    {
      coding: "gzip",
      flushes: false,
      encode: (body) => encodeStream(streamOf(body)),
      encodeStream,
    },
  ];
}

function streamOf(body: string | Bytes): ReadableStream<Bytes> {
  return new Blob([body]).stream();
}

// A window of 512 KiB instead of 4 MiB and more, so that an open event stream needs little memory.
// Browsers refuse more than 8 MiB (RFC 9659).
const windowBits = 19;

function zlibEncoders(zlib: NativeZlib): ContentEncoder[] {
  const { constants } = zlib;
  const gzip = zlibEncoder(
    "gzip",
    { sync: zlib.gzipSync, pooled: zlib.gzip, stream: zlib.createGzip },
    { level: levels.gzip, flush: constants["Z_SYNC_FLUSH"] ?? 2 },
  );
  const br = zlibEncoder(
    "br",
    {
      sync: zlib.brotliCompressSync,
      pooled: zlib.brotliCompress,
      stream: zlib.createBrotliCompress,
    },
    {
      params: {
        [constants["BROTLI_PARAM_QUALITY"] ?? 1]: levels.br,
        [constants["BROTLI_PARAM_LGWIN"] ?? 2]: windowBits,
      },
      flush: constants["BROTLI_OPERATION_FLUSH"] ?? 1,
    },
  );
  const { zstdCompressSync, zstdCompress, createZstdCompress } = zlib;
  if (!zstdCompressSync || !zstdCompress || !createZstdCompress) return [gzip, br];
  const zstd = zlibEncoder(
    "zstd",
    { sync: zstdCompressSync, pooled: zstdCompress, stream: createZstdCompress },
    {
      params: {
        [constants["ZSTD_c_compressionLevel"] ?? 100]: levels.zstd,
        [constants["ZSTD_c_windowLog"] ?? 101]: windowBits,
      },
      flush: constants["ZSTD_e_flush"] ?? 1,
    },
  );
  return [gzip, br, zstd];
}

function zlibEncoder(
  coding: ContentCoding,
  { sync, pooled, stream }: ZlibFunctions,
  { flush, ...options }: ZlibOptions,
): ContentEncoder {
  // Each piece of output needs a turn of the thread pool. With pieces of this size most bodies need
  // one.
  const pooledOptions = { ...options, chunkSize: 65_536 };
  const encodePooled = (body: string | Bytes): Promise<Bytes> =>
    new Promise((resolve, reject) => {
      pooled(body, pooledOptions, (error, encoded) => {
        if (error) reject(error);
        else resolve(encoded);
      });
    });
  return {
    coding,
    flushes: true,
    encode: (body) => (body.length <= syncLimit ? sync(body, options) : encodePooled(body)),
    encodeStream: (body, kind) =>
      flushChunks(body, () => stream({ ...options, flush }), {
        encodeOnly: (chunk) => sync(chunk, options),
        maxOnlyChunk: kind === "live" ? -1 : syncLimit,
      }),
  };
}

interface ZlibOptions {
  readonly level?: number;
  readonly params?: Readonly<Record<number, number>>;
  readonly flush?: number | undefined;
  readonly chunkSize?: number;
}

type SyncEncode = (body: string | Uint8Array, options: ZlibOptions) => Bytes;
type PooledEncode = (
  body: string | Uint8Array,
  options: ZlibOptions,
  done: (error: Error | null, encoded: Bytes) => void,
) => void;
type MakeStream = (options: ZlibOptions) => ZlibStream;

/** The functions of `zlib` for one coding. */
interface ZlibFunctions {
  readonly sync: SyncEncode;
  readonly pooled: PooledEncode;
  readonly stream: MakeStream;
}

/** The part of Node's `zlib` that this file uses. Zstandard came with Node 22.15. */
interface NativeZlib {
  readonly constants: Readonly<Record<string, number>>;
  readonly gzipSync: SyncEncode;
  readonly gzip: PooledEncode;
  readonly createGzip: MakeStream;
  readonly brotliCompressSync: SyncEncode;
  readonly brotliCompress: PooledEncode;
  readonly createBrotliCompress: MakeStream;
  readonly zstdCompressSync?: SyncEncode;
  readonly zstdCompress?: PooledEncode;
  readonly createZstdCompress?: MakeStream;
}

function findZlib(): NativeZlib | undefined {
  const zlib = builtinModule<NativeZlib>("node:zlib");
  const isComplete =
    zlib?.constants !== undefined &&
    zlib.gzipSync !== undefined &&
    zlib.gzip !== undefined &&
    zlib.createGzip !== undefined &&
    zlib.brotliCompressSync !== undefined &&
    zlib.brotliCompress !== undefined &&
    zlib.createBrotliCompress !== undefined;
  return isComplete ? (zlib as NativeZlib) : undefined;
}
