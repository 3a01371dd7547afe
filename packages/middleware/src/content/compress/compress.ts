import { addVary, changeHeaders, createContextKey, type Middleware } from "@fetchwork/http";
import {
  isBodyUsed,
  replaceBody,
  takeResponse,
  type TakenResponse,
} from "../../body/replace-body.ts";
import { peekStream, readIfSmall } from "../../body/stream-start.ts";
import { checkAmount, checkOptions, optionError } from "../../check-options.ts";
import { chooseEncoding } from "./accept-encoding.ts";
import { findEncoders, type ContentCoding, type ContentEncoder } from "./content-encoder.ts";
import { sniffedBytes, sniffType } from "./sniff-type.ts";
import { place } from "../../order.ts";

/** Options of {@link compress}. */
export interface CompressOptions {
  /**
   * Content codings to offer, the preferred one first. Codings that the runtime does not support
   * are skipped. A client that weights them differently decides. Default: `["zstd", "br", "gzip"]`.
   */
  readonly encodings?: readonly ContentCoding[] | undefined;
  /** Prefixes of media types to compress. Default: text, JSON, XML, scripts, fonts. */
  readonly types?: readonly string[] | undefined;
  /**
   * Minimum size in bytes of a body that is available as a whole, as from `json()`, `text()` and
   * `new Response("text")`. Does not apply to a stream whose chunks come later. Default: `1024`: a
   * smaller body fits into one packet anyway.
   */
  readonly threshold?: number | undefined;
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
 * Compresses responses with Zstandard, Brotli or gzip, whichever the client's `Accept-Encoding`
 * prefers.
 *
 * A response is compressed when its media type is listed; without a `Content-Type` its first bytes
 * decide. Never compressed: the statuses 204, 205, 206 and 304, responses with `Content-Encoding`
 * or `Content-Range`, and those with `Cache-Control: no-transform`. A strong `ETag` becomes weak,
 * because the bytes differ. Every response gets `Vary: Accept-Encoding`, because a cache must not
 * serve one client's variant to all.
 *
 * Each chunk of a stream is flushed, so events arrive at once, and a slow client slows the source
 * down. A body that is available as a whole (`json()`, `text()`) keeps a `Content-Length`. A HEAD
 * gets the headers of the GET. A second `compress` around or inside this one does nothing.
 *
 * On Workers the runtime compresses responses that are marked as gzip. Other runtimes without
 * Node's `zlib` use `CompressionStream`: gzip only, with a fixed level and without flushing, so
 * event streams and NDJSON stay uncompressed.
 *
 * The BREACH attack guesses a secret from the size of responses: the attacker makes a client
 * request pages that have a text of the attacker's choice next to the secret. Exclude such pages
 * with `maybe`.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function compress(options: CompressOptions = {}): Middleware {
  checkOptions("compress", options, ["encodings", "types", "threshold"]);
  const { encodings = ["zstd", "br", "gzip"], types = defaultTypes, threshold = 1024 } = options;
  checkCodings(encodings);
  checkAmount(threshold, "threshold", 0);
  const isListed = typeMatcher(types);
  const chooseEncoder = encoderChooser(encodings, findEncoders());

  const compressWhole = (
    taken: TakenResponse,
    encoder: ContentEncoder,
    method: string,
  ): Response | Promise<Response> => {
    const { headers, body } = taken;
    const isHead = method === "HEAD";
    // A HEAD without a body represents the GET, which has one unless its Content-Length says
    // otherwise.
    const isEmpty = body === "" || (body === null && !isHead);
    if (isEmpty || body instanceof ReadableStream) return replaceBody(taken, body, headers);
    if (!headers.has("content-type") && (body === null || !isListed(sniffType(startOf(body))))) {
      return replaceBody(taken, body, headers);
    }
    markEncoded(headers, encoder.coding);
    if (isHead || body === null) return replaceBody(taken, null, headers);
    const encoded = encoder.encode(body);
    return encoded instanceof Promise
      ? encoded.then((bytes) => replaceBody(taken, bytes, headers))
      : replaceBody(taken, encoded, headers);
  };

  const compressStream = async (
    taken: TakenResponse,
    source: ReadableStream<Uint8Array>,
    encoder: ContentEncoder,
    { method, signal }: { readonly method: string; readonly signal: AbortSignal },
  ): Promise<Response> => {
    const { headers } = taken;
    const isHead = method === "HEAD";
    const type = headers.get("content-type")?.toLowerCase();
    const isEvents = type !== undefined && isLive(type);
    let stream = source;
    if (threshold > 0 && !isEvents && !headers.has("content-length")) {
      // The body of a native `Response` is a stream even when it was made of a short text.
      const start = await readIfSmall(stream, threshold);
      if ("bytes" in start) return replaceBody(taken, start.bytes, headers);
      stream = start.stream;
    }
    if (type === undefined) {
      if (isHead) return replaceBody(taken, stream, headers);
      const peeked = await peekStream(stream, signal);
      stream = peeked.stream;
      if (peeked.first === undefined || !isListed(sniffType(peeked.first))) {
        return replaceBody(taken, stream, headers);
      }
    }
    markEncoded(headers, encoder.coding);
    if (isHead) {
      stream.cancel().catch(() => undefined);
      return replaceBody(taken, null, headers);
    }
    return replaceBody(taken, encoder.encodeStream(stream, isEvents ? "live" : "any"), headers);
  };

  return place("compress", (next) => (request, context) => {
    if (context.get(compressKey) === true) return next(request, context);
    context.set(compressKey, true);
    const encoder = chooseEncoder(request.headers.get("accept-encoding"));
    const finish = (response: Response): Response | Promise<Response> => {
      if (encoder === undefined || !isCompressible(response, encoder, isListed)) {
        return changeHeaders(response, context, varyOnEncoding);
      }
      // Passed on as it is. The length of text and bytes is known only when the response is taken
      // apart.
      if (isShort(response.headers, threshold)) {
        return changeHeaders(response, context, varyOnEncoding);
      }
      const taken = takeResponse(response);
      const { headers, body } = taken;
      varyOnEncoding(headers);
      if (isShort(headers, threshold)) return replaceBody(taken, body, headers);
      const { method } = request;
      return body instanceof ReadableStream && !body.locked
        ? compressStream(taken, body, encoder, { method, signal: context.signal })
        : compressWhole(taken, encoder, method);
    };
    const result = next(request, context);
    return result instanceof Promise ? result.then(finish) : finish(result);
  });
}

const compressKey = createContextKey<boolean>("compress");

function varyOnEncoding(headers: Headers): void {
  addVary(headers, "Accept-Encoding");
}

// Browsers send a handful of values. Others are not worth the memory.
const maxRememberedFields = 64;
const maxRememberedLength = 128;

/** Chooses the encoder for an `Accept-Encoding` field, and remembers the choice. */
function encoderChooser(
  encodings: readonly ContentCoding[],
  encoders: ReadonlyMap<ContentCoding, ContentEncoder>,
): (field: string | null) => ContentEncoder | undefined {
  const offered = encodings.filter((coding) => encoders.has(coding));
  const chosen = new Map<string, ContentEncoder | undefined>();
  return (field) => {
    if (field === null) return undefined;
    if (chosen.has(field)) return chosen.get(field);
    const coding = chooseEncoding(field, offered);
    const encoder = coding === undefined ? undefined : encoders.get(coding);
    if (chosen.size < maxRememberedFields && field.length <= maxRememberedLength) {
      chosen.set(field, encoder);
    }
    return encoder;
  };
}

const neverCompressed: ReadonlySet<number> = new Set([0, 101, 204, 205, 206, 304]);

/** Whether status and headers allow compression; untyped ones depend on first bytes. */
function isCompressible(
  response: Response,
  encoder: ContentEncoder,
  isListed: (type: string) => boolean,
): boolean {
  if (neverCompressed.has(response.status) || isBodyUsed(response)) return false;
  const { headers } = response;
  const type = headers.get("content-type")?.toLowerCase();
  if (type !== undefined) {
    if (!isListed(type)) return false;
    if (!encoder.flushes && isLive(type)) return false;
  }
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.toLowerCase() !== "identity") return false;
  if (headers.has("content-range")) return false;
  const cacheControl = headers.get("cache-control");
  return cacheControl === null || !/(?:^|[\s,])no-transform(?:$|[\s,])/i.test(cacheControl);
}

/** Whether the declared length is below the threshold. An empty body is never compressed. */
function isShort(headers: Headers, threshold: number): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) < Math.max(threshold, 1);
}

/** Whether a client waits for each chunk of this media type. */
function isLive(type: string): boolean {
  return type.startsWith("text/event-stream") || type.startsWith("application/x-ndjson");
}

function startOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? new TextEncoder().encode(body.slice(0, sniffedBytes)) : body;
}

function markEncoded(headers: Headers, coding: ContentCoding): void {
  headers.set("content-encoding", coding);
  headers.delete("content-length");
  // Ranges would count the plain bytes.
  headers.delete("accept-ranges");
  const etag = headers.get("etag");
  if (etag !== null && !etag.startsWith("W/")) headers.set("etag", `W/${etag}`);
}

function checkCodings(encodings: readonly string[]): void {
  if (!Array.isArray(encodings) || encodings.length === 0)
    throw optionError("encodings", encodings, 'a list of "zstd", "br" and "gzip"');
  for (const coding of encodings) {
    if (coding !== "zstd" && coding !== "br" && coding !== "gzip")
      throw optionError("encoding", coding, '"zstd", "br" or "gzip"');
  }
}

/** Whether a media type, in lower case, starts with one of the prefixes. */
function typeMatcher(prefixes: readonly string[]): (type: string) => boolean {
  if (!Array.isArray(prefixes)) throw optionError("types", prefixes, "a list of media types");
  const checked = prefixes.map((prefix: unknown) => {
    if (typeof prefix !== "string" || prefix.trim() === "") {
      throw optionError("type", prefix, "the beginning of a media type");
    }
    return prefix.trim().toLowerCase();
  });
  return (type) => checked.some((prefix) => type.startsWith(prefix));
}
