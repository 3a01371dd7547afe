import { encodeChunks } from "./encode-chunks.ts";
import { findZlib, type NativeZlib, type ZlibOptions } from "./native-zlib.ts";
import { onWorkers } from "../../runtime/on-workers.ts";

/** A content coding that can be made here. */
export type ContentCoding = "br" | "gzip" | "zstd";

type Bytes = Uint8Array<ArrayBuffer>;

/** Makes a content coding. */
export interface ContentEncoder {
  readonly coding: ContentCoding;
  /** Whether every chunk goes out as soon as it is there. */
  readonly flushes: boolean;
  /** Encodes a whole body at once; undefined where the platform has only streams. */
  readonly encodeNow: ((body: string | Uint8Array) => Bytes) | undefined;
  /** Encodes a whole body on another thread. */
  readonly encodeLater: ((body: string | Uint8Array) => Promise<Bytes>) | undefined;
  /** Encodes a body as it comes. */
  readonly encodeStream: (
    body: ReadableStream<Uint8Array>,
    kind: { readonly isLive: boolean },
  ) => ReadableStream<Bytes>;
}

/** How much effort each coding takes, and where. */
export interface EncoderSettings {
  readonly gzip: number;
  readonly br: number;
  readonly zstd: number;
  /** The largest body, in bytes, that is encoded on the thread that serves. */
  readonly syncLimit: number;
}

/**
 * Finds the codings that this runtime can make; without `zlib` only `gzip`, by `CompressionStream`, and on Cloudflare's
 * Workers by the runtime.
 */
export function findEncoders(
  settings: EncoderSettings,
): ReadonlyMap<ContentCoding, ContentEncoder> {
  if (onWorkers()) {
    return new Map([[workersGzip.coding, workersGzip]]);
  }
  const zlib = findZlib();
  const encoders = zlib === undefined ? [platformGzip()] : zlibEncoders(zlib, settings);
  return new Map(encoders.flatMap((entry) => (entry ? [[entry.coding, entry] as const] : [])));
}

/**
 * Workers encode what a response says is encoded, and would encode a second time what is so already. Their bodies are
 * plain until they are sent, those of `fetch` too, so that responses can be made of each other.
 */
const workersGzip: ContentEncoder = {
  coding: "gzip",
  flushes: false,
  encodeNow: undefined,
  encodeLater: undefined,
  // Bytes are bytes; the types differ about where these may be.
  encodeStream: (body) => body as ReadableStream<Bytes>,
};

function zlibEncoders(zlib: NativeZlib, settings: EncoderSettings): ContentEncoder[] {
  const { constants } = zlib;
  const { syncLimit } = settings;
  const encoders: ContentEncoder[] = [];
  encoders.push(
    zlibEncoder(
      "gzip",
      { now: zlib.gzipSync, later: zlib.gzip, stream: zlib.createGzip },
      {
        whole: { level: settings.gzip },
        chunk: { flush: constants["Z_SYNC_FLUSH"] ?? 2 },
        syncLimit,
      },
    ),
    zlibEncoder(
      "br",
      {
        now: zlib.brotliCompressSync,
        later: zlib.brotliCompress,
        stream: zlib.createBrotliCompress,
      },
      {
        whole: {
          params: brotliParams(constants, settings.br),
        },
        chunk: { flush: constants["BROTLI_OPERATION_FLUSH"] ?? 1 },
        syncLimit,
      },
    ),
  );
  const { zstdCompressSync, zstdCompress, createZstdCompress } = zlib;
  if (zstdCompressSync && zstdCompress && createZstdCompress) {
    encoders.push(
      zlibEncoder(
        "zstd",
        { now: zstdCompressSync, later: zstdCompress, stream: createZstdCompress },
        {
          whole: { params: zstdParams(constants, settings.zstd) },
          chunk: { flush: constants["ZSTD_e_flush"] ?? 1 },
          syncLimit,
        },
      ),
    );
  }
  return encoders;
}

// A window of 512 KiB instead of 4 MiB and more, so that an open event stream costs little memory; browsers refuse
// more than 8 MiB (RFC 9659).
const windowBits = 19;

function brotliParams(
  constants: NativeZlib["constants"],
  quality: number,
): Readonly<Record<number, number>> {
  return {
    [constants["BROTLI_PARAM_QUALITY"] ?? 1]: quality,
    [constants["BROTLI_PARAM_LGWIN"] ?? 2]: windowBits,
  };
}

function zstdParams(
  constants: NativeZlib["constants"],
  level: number,
): Readonly<Record<number, number>> {
  return {
    [constants["ZSTD_c_compressionLevel"] ?? 100]: level,
    [constants["ZSTD_c_windowLog"] ?? 101]: windowBits,
  };
}

interface ZlibFunctions {
  readonly now: NativeZlib["gzipSync"];
  readonly later: NativeZlib["gzip"];
  readonly stream: NativeZlib["createGzip"];
}

function zlibEncoder(
  coding: ContentCoding,
  { now, later, stream }: ZlibFunctions,
  options: {
    readonly whole: ZlibOptions;
    readonly chunk: { readonly flush: number };
    readonly syncLimit: number;
  },
): ContentEncoder {
  const { whole, syncLimit } = options;
  // One more turn to the thread pool for each piece of output; most bodies then need one.
  const large = { ...whole, chunkSize: 65_536 };
  const perChunk = { ...whole, ...options.chunk };
  const encodeNow = (body: string | Uint8Array): Bytes => now(body, whole);
  return {
    coding,
    flushes: true,
    encodeNow,
    encodeLater: (body) =>
      new Promise((resolve, reject) => {
        later(body, large, (error, encoded) => {
          if (error) reject(error);
          else resolve(encoded);
        });
      }),
    encodeStream: (body, { isLive }) =>
      encodeChunks(body, {
        makeStream: () => stream(perChunk),
        encodeNow,
        isLive,
        largestSyncChunk: syncLimit,
      }),
  };
}

/** What every platform has: no level, and nothing comes out before much has gone in. */
function platformGzip(): ContentEncoder | undefined {
  const { CompressionStream } = globalThis as {
    readonly CompressionStream?: typeof globalThis.CompressionStream;
  };
  if (CompressionStream === undefined) return undefined;
  return {
    coding: "gzip",
    flushes: false,
    encodeNow: undefined,
    encodeLater: undefined,
    encodeStream: (body) =>
      body.pipeThrough(
        // It takes any bytes; the types differ about where these may be.
        new CompressionStream("gzip") as unknown as ReadableWritablePair<Bytes, Uint8Array>,
      ),
  };
}
