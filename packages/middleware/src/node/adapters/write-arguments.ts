import type { ServerResponse } from "node:http";

/** What Node calls when a chunk was written. */
export type WriteCallback = (error?: Error | null) => void;

/** Applies what `writeHead` was called with: a reason, and an object, a flat list or pairs of headers. */
export function applyHead(
  response: ServerResponse,
  status: number,
  rest: readonly unknown[],
): void {
  response.statusCode = status;
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
  const flat: readonly unknown[] = headers.flat();
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = String(flat[index]);
    const isRepeated = flat.slice(0, index).some((other, at) => at % 2 === 0 && other === name);
    const value = String(flat[index + 1]);
    if (isRepeated) response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
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

/** Length of a chunk, in characters or bytes. */
export function lengthOf(chunk: unknown): number {
  return typeof chunk === "string" || chunk instanceof Uint8Array ? chunk.length : 0;
}

/** Length of a chunk, in bytes. */
export function byteLengthOf(chunk: unknown, encoding: BufferEncoding | undefined): number {
  return typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : lengthOf(chunk);
}

/** The bytes of a chunk. */
export function toBytes(
  chunk: unknown,
  encoding: BufferEncoding | undefined,
): Uint8Array<ArrayBuffer> {
  if (typeof chunk === "string") return Buffer.from(chunk, encoding);
  // A buffer that the framework may use again; Node copies nothing either, but writes it at once.
  if (chunk instanceof Uint8Array) return new Uint8Array(chunk);
  throw new TypeError(`invalid chunk of type ${typeof chunk}: expected a string or bytes`);
}
