import { HttpUsageError } from "../../errors.ts";
import type { TransportBody, TransportRequest } from "../../client/transport/transport.ts";
import { acceptedCodings } from "./content-coding.ts";

/** The head of a request as undici takes it. */
export interface RequestHead {
  /** Names and values in turn. */
  readonly headers: string[];
  /** Bytes that the caller announced for a streamed body. */
  readonly announced: number | undefined;
}

/**
 * Makes the head of a request. `Accept-Encoding` is added when `decompress` is set and the caller
 * gave none. `Content-Length` must be right; of `Connection` only `close` counts.
 *
 * @throws {HttpUsageError} `ERR_HTTP_HEADER`: a header that belongs to the connection and not to
 * the caller, or a wrong `Content-Length`.
 */
export function writeHead(request: TransportRequest, decompress: boolean): RequestHead {
  const { headers: given, body } = request;
  const headers: string[] = [];
  let asked = !decompress;
  let announced: number | undefined;
  for (let index = 0; index < given.length; index += 2) {
    const name = given[index] ?? "";
    const value = given[index + 1] ?? "";
    switch (name) {
      case "accept-encoding":
        asked = true;
        break;
      case "content-length":
        if (announced !== undefined) throw headerError(name, "occurs twice");
        announced = readLength(value);
        checkLength(announced, body);
        if (!(body instanceof ReadableStream)) continue;
        break;
      case "transfer-encoding":
      case "keep-alive":
      case "upgrade":
      case "expect":
      case "proxy-authorization":
      case "proxy-connection":
      case "http2-settings":
        throw headerError(name, "is the transport's, a caller cannot set it");
      case "te":
        if (value.trim().toLowerCase() !== "trailers")
          throw headerError(name, "can only be trailers");
        break;
    }
    headers.push(name, value);
  }
  if (!asked) headers.push("accept-encoding", acceptedCodings);
  return { headers, announced: body instanceof ReadableStream ? announced : undefined };
}

function readLength(value: string): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  if (length === undefined) throw headerError("content-length", "is not a number of bytes");
  return length;
}

function checkLength(announced: number, body: TransportBody | undefined): void {
  if (body instanceof ReadableStream) return;
  const length =
    body === undefined ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  if (length !== announced) {
    throw headerError("content-length", `is ${announced}, but the body has ${length} bytes`);
  }
}

/** The error for a header that a caller must not send so; it has no value in it. */
export function headerError(name: string, problem: string): HttpUsageError {
  return new HttpUsageError("ERR_HTTP_HEADER", `the header ${name} ${problem}`);
}
