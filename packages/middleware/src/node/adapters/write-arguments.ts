import type { ServerResponse } from "node:http";

/** What a framework may write. */
export type Chunk = string | Uint8Array;

/** What Node calls when a chunk was written. */
export type WriteCallback = (error?: Error | null) => void;

/** Applies what `writeHead` was called with: a reason, and an object, a flat list or pairs of headers. */
export function applyHead(
  response: ServerResponse,
  status: number,
  rest: readonly unknown[],
): void {
  response.statusCode = validStatus(status);
  const [first, second] = rest;
  if (typeof first === "string") response.statusMessage = first;
  const headers = typeof first === "string" ? second : (first ?? second);
  if (headers === undefined || headers === null) return;
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) response.setHeader(name, value as string);
    }
    return;
  }
  const pairs = pairsOf(headers);
  for (const [name] of pairs) response.removeHeader(name);
  for (const [name, value] of pairs) response.appendHeader(name, value);
}

function validStatus(status: unknown): number {
  const code = Math.trunc(Number(status));
  if (code >= 100 && code <= 999) return code;
  throw Object.assign(new RangeError(`invalid status ${String(status)}: expected 100 to 999`), {
    code: "ERR_HTTP_INVALID_STATUS_CODE",
  });
}

/** Pairs of a list of pairs, or of one where names and values alternate. */
function pairsOf(list: readonly unknown[]): (readonly [string, string | string[]])[] {
  const flat = Array.isArray(list[0]) ? list.flat() : list;
  const pairs: (readonly [string, string | string[]])[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const value: unknown = flat[index + 1];
    pairs.push([String(flat[index]), Array.isArray(value) ? value.map(String) : String(value)]);
  }
  return pairs;
}

/** The callback among the arguments of a call. */
export function callbackOf(...values: readonly unknown[]): WriteCallback | undefined {
  return values.find((value): value is WriteCallback => typeof value === "function");
}

/** The encoding, when the argument is one. */
export function encodingOf(value: unknown): BufferEncoding | undefined {
  return typeof value === "string" && Buffer.isEncoding(value) ? value : undefined;
}

/** Whether text of this encoding is plain text. */
export function isUtf8(encoding: BufferEncoding | undefined): boolean {
  return encoding === undefined || encoding === "utf8" || encoding === "utf-8";
}

/** Rejects at once what Node would reject when the middlewares are done, where the handler no longer sees the error. */
export function checkChunk(chunk: unknown): asserts chunk is Chunk {
  if (typeof chunk === "string" || chunk instanceof Uint8Array) return;
  throw Object.assign(
    new TypeError(`invalid chunk of type ${typeof chunk}: expected a string or bytes`),
    { code: "ERR_INVALID_ARG_TYPE" },
  );
}

/** Length of a chunk, in bytes. */
export function byteLengthOf(chunk: Chunk, encoding: BufferEncoding | undefined): number {
  return typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
}

/** The bytes of a chunk. */
export function toBytes(
  chunk: Chunk,
  encoding: BufferEncoding | undefined,
): Uint8Array<ArrayBuffer> {
  if (typeof chunk === "string") return Buffer.from(chunk, encoding);
  // A buffer that the framework may use again; Node copies nothing either, but writes it at once.
  return new Uint8Array(chunk);
}
