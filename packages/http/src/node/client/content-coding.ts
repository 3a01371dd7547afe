import { promisify } from "node:util";
import * as zlib from "node:zlib";
import type { Transform } from "node:stream";

/**
 * Codings that {@link readCodings} knows, as they are asked for. Not zstd: of a body of several
 * frames (RFC 8878 section 3) Node's decoder returns the first one, without an error.
 */
export const acceptedCodings = "gzip, deflate, br";

/** A coding that can be taken off a body. */
type Coding = "gzip" | "deflate" | "br";

/**
 * Reads `Content-Encoding`, outermost coding last as in the header. `undefined`: there is nothing
 * to decode, or something that is not known, or more than three codings, which no honest server
 * sends.
 */
export function readCodings(field: string): readonly Coding[] | undefined {
  const codings: Coding[] = [];
  for (const part of field.split(",")) {
    const name = part.trim().toLowerCase();
    if (name === "identity" || name === "") continue;
    const coding = names.get(name);
    if (coding === undefined || codings.length === maxCodings) return undefined;
    codings.push(coding);
  }
  return codings.length === 0 ? undefined : codings;
}

const maxCodings = 3;
const names: ReadonlyMap<string, Coding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
]);

/** A decoded body would be larger than allowed. */
export class DecodedTooLarge extends Error {
  override readonly name: string = "DecodedTooLarge";
}

/**
 * Takes codings off a whole body. Small ones at once, since a thread costs more than they do;
 * larger ones on a thread.
 *
 * @throws {DecodedTooLarge} More than `limit` bytes come out.
 * @throws {Error} The body is truncated or corrupt.
 */
export function decodeWhole(
  body: Uint8Array,
  codings: readonly Coding[],
  limit: number,
): Uint8Array | Promise<Uint8Array> {
  if (body.byteLength === 0) return body;
  const options = { maxOutputLength: Math.max(1, Math.min(limit, maxOutput)) };
  if (body.byteLength > maxAtOnce) return decodeOnThread(body, codings, options);
  let decoded = body;
  for (const coding of codings.toReversed()) {
    decoded = checked(() => decoders[coding].sync(decoded, options));
  }
  return decoded;
}

const maxAtOnce = 16_384;
const maxOutput = 2 ** 32;

async function decodeOnThread(
  body: Uint8Array,
  codings: readonly Coding[],
  options: Limit,
): Promise<Uint8Array> {
  let decoded = body;
  for (const coding of codings.toReversed()) {
    try {
      decoded = await decoders[coding].async(decoded, options);
    } catch (error) {
      throw tooLargeOr(error);
    }
  }
  return decoded;
}

/**
 * Makes the streams that take codings off, in the order in which bytes pass them. `first` is the
 * body's first byte: some servers send `deflate` without the wrapper of zlib.
 */
export function decodingStreams(
  codings: readonly Coding[],
  first: number | undefined,
): Transform[] {
  return codings
    .toReversed()
    .map((coding, index) => decoders[coding].stream(index === 0 ? first : undefined));
}

/** Whether a `deflate` body begins as RFC 1950 requires; assumed without a first byte. */
function isZlib(first: number | undefined): boolean {
  return first === undefined || (first & 0x0f) === 8;
}

function checked(decode: () => Uint8Array): Uint8Array {
  try {
    return decode();
  } catch (error) {
    throw tooLargeOr(error);
  }
}

function tooLargeOr(error: unknown): unknown {
  const large =
    error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
  return large ? new DecodedTooLarge() : error;
}

interface Limit {
  readonly maxOutputLength: number;
}

interface Decoder {
  readonly sync: (body: Uint8Array, options: Limit) => Uint8Array;
  readonly async: (body: Uint8Array, options: Limit) => Promise<Uint8Array>;
  readonly stream: (first: number | undefined) => Transform;
}

const inflate = promisify<Uint8Array, Limit, Uint8Array>(zlib.inflate);
const inflateRaw = promisify<Uint8Array, Limit, Uint8Array>(zlib.inflateRaw);

const decoders: Readonly<Record<Coding, Decoder>> = {
  gzip: {
    sync: zlib.gunzipSync,
    async: promisify<Uint8Array, Limit, Uint8Array>(zlib.gunzip),
    stream: () => zlib.createGunzip(),
  },
  deflate: {
    sync: (body, options) =>
      isZlib(body[0]) ? zlib.inflateSync(body, options) : zlib.inflateRawSync(body, options),
    async: (body, options) =>
      isZlib(body[0]) ? inflate(body, options) : inflateRaw(body, options),
    stream: (first) => (isZlib(first) ? zlib.createInflate() : zlib.createInflateRaw()),
  },
  br: {
    sync: zlib.brotliDecompressSync,
    async: promisify<Uint8Array, Limit, Uint8Array>(zlib.brotliDecompress),
    stream: () => zlib.createBrotliDecompress(),
  },
};
