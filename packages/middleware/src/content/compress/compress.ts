import {
  addVary,
  changeHeaders,
  createContextKey,
  type Context,
  type Middleware,
} from "@fetchwork/http";
import { chooseEncoding } from "./accept-encoding.ts";
import { checkAmount, checkOptions, optionError, type OptionNames } from "../../check-options.ts";
import { findEncoders, type ContentCoding, type ContentEncoder } from "./content-encoder.ts";
import { peekStream } from "./peek-stream.ts";
import { readSmall } from "./read-small.ts";
import {
  isBodyUsed,
  replaceBody,
  takeResponse,
  type ReplacedBody,
  type ResponseHead,
  type TakenResponse,
} from "../../body/replace-body.ts";
import { sniffedBytes, sniffType } from "./sniff-type.ts";

/** Options of {@link compress}. */
export interface CompressOptions {
  /**
   * Content codings on offer, the preferred one first; one that the runtime cannot make is left out. A client that gives
   * them different weights decides itself. Default: `["zstd", "br", "gzip"]`.
   */
  readonly encodings?: readonly ContentCoding[] | undefined;
  /** Beginnings of media types that are compressed, without regard to case. Default: text, JSON, XML, scripts, fonts. */
  readonly types?: readonly string[] | undefined;
  /**
   * Minimum size of a body that is there as a whole, in bytes: that of `json`, `text` and `new Response("text")`, not of a
   * stream whose chunks come later. Default: 1024, below which a packet is sent all the same.
   */
  readonly threshold?: number | undefined;
  /** Effort for gzip, 1 to 9. Default: 6. */
  readonly gzipLevel?: number | undefined;
  /** Effort for Brotli, 0 to 11; 11 takes more than ten times as long as 4. Default: 4. */
  readonly brotliQuality?: number | undefined;
  /** Effort for Zstandard, 1 to 19. Default: 3. */
  readonly zstdLevel?: number | undefined;
  /**
   * Size up to which a whole body is compressed on the thread that serves, in bytes; beyond it on another one, which
   * takes a little more CPU time, uses all processors and holds nobody up. Default: 32_768, about 1 ms of gzip.
   */
  readonly syncLimit?: number | undefined;
}

const defaultTypes = [
  "text/",
  "application/javascript",
  "application/json",
  "application/ld+json",
  "application/manifest+json",
  "application/problem+json",
  "application/wasm",
  "application/x-javascript",
  "application/x-ndjson",
  "application/xml",
  "application/atom+xml",
  "application/rss+xml",
  "application/xhtml+xml",
  "font/otf",
  "font/ttf",
  "image/svg+xml",
];

/**
 * Compresses responses with Zstandard, Brotli or gzip, as the client's `Accept-Encoding` has it.
 *
 * Every response gets `Vary: Accept-Encoding`, also one that is never compressed, such as an image: whether it is may
 * change, and a cache that holds one variant must not serve it to everybody. Compressed are those whose type is listed (one without `Content-Type` is
 * judged by its first bytes), but never the statuses 204, 205, 206 and 304, what has a `Content-Encoding` or a
 * `Content-Range`, and `Cache-Control: no-transform`. A strong `ETag` becomes a weak one, because the bytes differ.
 *
 * Each chunk of a stream is flushed, so events arrive at once, and a slow client slows the source down. The encoder lives
 * from the first chunk until the body ends or the client leaves. A body that is known as a whole (`json`, `text`) keeps a
 * `Content-Length`. A HEAD gets the headers of the
 * GET. Inside another `compress` it does nothing.
 *
 * On Workers the runtime makes gzip of what leaves with that header, and elsewhere without Node's `zlib`
 * `CompressionStream` does: gzip alone, at a level of its own and without flushing, so event streams and NDJSON stay as
 * they are.
 *
 * Who can make a client ask for pages with a text of his choice beside a secret may guess the secret by the size of the
 * answer (the BREACH attack); leave such pages out by `maybe`.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function compress(options: CompressOptions = {}): Middleware {
  checkOptions(options, knownOptions);
  const {
    encodings = ["zstd", "br", "gzip"],
    types = defaultTypes,
    threshold = 1024,
    gzipLevel = 6,
    brotliQuality = 4,
    zstdLevel = 3,
    syncLimit = 32_768,
  } = options;
  checkCodings(encodings);
  checkAmount(threshold, "threshold", 0);
  checkAmount(syncLimit, "syncLimit", 0);
  checkLevel("gzipLevel", gzipLevel, [1, 9]);
  checkLevel("brotliQuality", brotliQuality, [0, 11]);
  checkLevel("zstdLevel", zstdLevel, [1, 19]);
  const encoders = findEncoders({ gzip: gzipLevel, br: brotliQuality, zstd: zstdLevel, syncLimit });
  const policy: Policy = { types: checkTypes(types), threshold, syncLimit };
  const choose = chooser(encodings, encoders);

  return (next) => (request, context) => {
    if (context.get(compressKey) === true) return next(request, context);
    context.set(compressKey, true);
    const encoder = choose(request.headers.get("accept-encoding"));
    const result = next(request, context);
    if (encoder === undefined) {
      return result instanceof Promise
        ? result.then((response) => changeHeaders(response, context, vary))
        : changeHeaders(result, context, vary);
    }
    const isHead = request.method === "HEAD";
    const after = (response: Response): Response | Promise<Response> =>
      isCompressible(response, policy, encoder)
        ? encode(response, { encoder, policy, isHead, context })
        : changeHeaders(response, context, vary);
    return result instanceof Promise ? result.then(after) : after(result);
  };
}

const compressKey = createContextKey<boolean>("compress");

interface Policy {
  readonly types: readonly string[];
  readonly threshold: number;
  readonly syncLimit: number;
}

interface Encoding {
  readonly encoder: ContentEncoder;
  readonly policy: Policy;
  readonly isHead: boolean;
  readonly context: Context;
}

function vary(headers: Headers): void {
  addVary(headers, "Accept-Encoding");
}

// Browsers send a handful of values; the rest is not worth remembering.
const largestMemory = 64;
const longestField = 128;

function chooser(
  encodings: readonly ContentCoding[],
  encoders: ReadonlyMap<ContentCoding, ContentEncoder>,
): (field: string | null) => ContentEncoder | undefined {
  const offered = encodings.filter((coding) => encoders.has(coding));
  const memory = new Map<string, ContentEncoder | undefined>();
  return (field) => {
    if (field === null) return undefined;
    if (memory.has(field)) return memory.get(field);
    const coding = chooseEncoding(field, offered);
    const encoder = coding === undefined ? undefined : encoders.get(coding);
    if (memory.size < largestMemory && field.length <= longestField) memory.set(field, encoder);
    return encoder;
  };
}

const neverCompressed: ReadonlySet<number> = new Set([0, 101, 204, 205, 206, 304]);

/** Whether status and headers allow it, as far as the type is known. */
function isCompressible(response: Response, { types }: Policy, encoder: ContentEncoder): boolean {
  if (neverCompressed.has(response.status) || isBodyUsed(response)) return false;
  const { headers } = response;
  const type = headers.get("content-type")?.toLowerCase();
  if (type !== undefined) {
    if (!types.some((start) => type.startsWith(start))) return false;
    if (!encoder.flushes && isLive(type)) return false;
  }
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.toLowerCase() !== "identity") return false;
  if (headers.has("content-range")) return false;
  const cacheControl = headers.get("cache-control");
  return cacheControl === null || !/(?:^|[\s,])no-transform(?:$|[\s,])/i.test(cacheControl);
}

function isLive(type: string): boolean {
  return type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson");
}

function encode(response: Response, encoding: Encoding): Response | Promise<Response> {
  const { policy, isHead } = encoding;
  const taken = takeResponse(response);
  const { headers, body } = taken;
  const length = headers.get("content-length");
  vary(headers);
  const isSmall = length !== null && (Number(length) < policy.threshold || Number(length) === 0);
  // A HEAD without a body stands for the GET, which has one unless its length says otherwise.
  if (isSmall || body === "" || (body === null && !isHead)) {
    return replaceBody(taken, body, headers);
  }
  const type = headers.get("content-type")?.toLowerCase();
  const mayBeSmall =
    length === null && policy.threshold > 0 && !(type !== undefined && isLive(type));
  if (mayBeSmall && body instanceof ReadableStream && !body.locked) {
    // What a platform's `Response` was made of is a stream to us, also a short text.
    return readSmall(body, policy.threshold).then((found) =>
      "bytes" in found
        ? replaceBody(taken, found.bytes, headers)
        : encodeBody({ ...taken, body: found.stream }, encoding),
    );
  }
  return encodeBody(taken, encoding);
}

function encodeBody(taken: TakenResponse, encoding: Encoding): Response | Promise<Response> {
  const { encoder, isHead } = encoding;
  const { headers, body } = taken;
  const type = headers.get("content-type");
  if (type === null) return encodeUntyped(taken, headers, body, encoding);
  if (isHead) {
    if (body instanceof ReadableStream) body.cancel().catch(() => undefined);
    return replaceBody(taken, null, markEncoded(headers, encoder));
  }
  if (body instanceof ReadableStream) {
    if (body.locked) return replaceBody(taken, body, headers);
    const stream = encoder.encodeStream(body, { isLive: isLive(type.toLowerCase()) });
    return replaceBody(taken, stream, markEncoded(headers, encoder));
  }
  return encodeWhole(taken, markEncoded(headers, encoder), body ?? "", encoding);
}

/** Headers of the encoded body. */
function markEncoded(headers: Headers, encoder: ContentEncoder): Headers {
  headers.set("content-encoding", encoder.coding);
  headers.delete("content-length");
  // Ranges would be of the plain bytes.
  headers.delete("accept-ranges");
  const etag = headers.get("etag");
  if (etag !== null && !etag.startsWith("W/")) headers.set("etag", `W/${etag}`);
  return headers;
}

function encodeWhole(
  head: ResponseHead,
  headers: Headers,
  body: string | Uint8Array<ArrayBuffer>,
  { encoder, policy }: Encoding,
): Response | Promise<Response> {
  const { encodeNow, encodeLater } = encoder;
  if (encodeNow === undefined || encodeLater === undefined) {
    const stream = new Response(body).body;
    return replaceBody(head, stream && encoder.encodeStream(stream, { isLive: false }), headers);
  }
  if (body.length <= policy.syncLimit) return replaceBody(head, encodeNow(body), headers);
  return encodeLater(body).then((encoded) => replaceBody(head, encoded, headers));
}

/** Encodes a body without `Content-Type` when it begins like a listed type. The guess is not sent. */
function encodeUntyped(
  head: ResponseHead,
  headers: Headers,
  body: ReplacedBody,
  encoding: Encoding,
): Response | Promise<Response> {
  const { encoder, isHead, context } = encoding;
  const isListed = (first: Uint8Array | undefined): boolean => {
    if (first === undefined) return false;
    const type = sniffType(first);
    return encoding.policy.types.some((start) => type.startsWith(start));
  };
  if (body === null || (body instanceof ReadableStream && (body.locked || isHead))) {
    return replaceBody(head, body, headers);
  }
  if (body instanceof ReadableStream) {
    return peekStream(body, context.signal).then(({ first, stream }) =>
      isListed(first)
        ? replaceBody(
            head,
            encoder.encodeStream(stream, { isLive: false }),
            markEncoded(headers, encoder),
          )
        : replaceBody(head, stream, headers),
    );
  }
  const first =
    typeof body === "string" ? new TextEncoder().encode(body.slice(0, sniffedBytes)) : body;
  if (!isListed(first)) return replaceBody(head, body, headers);
  markEncoded(headers, encoder);
  return isHead ? replaceBody(head, null, headers) : encodeWhole(head, headers, body, encoding);
}

function checkCodings(encodings: readonly string[]): void {
  if (!Array.isArray(encodings) || encodings.length === 0)
    throw optionError("encodings", encodings, 'a list of "zstd", "br" and "gzip"');
  for (const coding of encodings) {
    if (coding !== "zstd" && coding !== "br" && coding !== "gzip")
      throw optionError("encoding", coding, '"zstd", "br" or "gzip"');
  }
}

function checkTypes(types: readonly string[]): readonly string[] {
  if (!Array.isArray(types)) throw optionError("types", types, "a list of media types");
  return types.map((type: unknown) => {
    if (typeof type !== "string" || type.trim() === "")
      throw optionError("type", type, "the beginning of a media type");
    return type.trim().toLowerCase();
  });
}

function checkLevel(name: string, level: number, [least, most]: [number, number]): void {
  if (!Number.isInteger(level) || level < least || level > most)
    throw optionError(name, level, `a whole number from ${least} to ${most}`);
}

const knownOptions: OptionNames<CompressOptions> = {
  owner: "compress",
  names: {
    encodings: true,
    types: true,
    threshold: true,
    gzipLevel: true,
    brotliQuality: true,
    zstdLevel: true,
    syncLimit: true,
  },
  otherNames: {
    level: "gzipLevel",
    filter: "types",
    contentTypes: "types",
    customTypes: "types",
    contentTypeFilter: "types",
    algorithms: "encodings",
    minSize: "threshold",
    minLength: "threshold",
    brotli: "brotliQuality",
    quality: "brotliQuality",
    brotliLevel: "brotliQuality",
    zstd: "zstdLevel",
    zstdQuality: "zstdLevel",
  },
};
