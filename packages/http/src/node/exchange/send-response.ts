import { Readable } from "node:stream";
import { HttpUsageError } from "../../errors.ts";
import { notAResponse } from "../../not-a-response.ts";
import { claimResponse } from "../../message/response-owner.ts";
import {
  isNullBodyStatus,
  prepareTextResponse,
  type PreparedResponse,
} from "../../message/response.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { failExchange } from "./send-error.ts";
import { sendStream } from "./send-stream.ts";
import { writeHead } from "./write-head.ts";

/** Sends a response; whatever goes wrong fails the exchange and never throws. */
export function sendResponse(exchange: NodeExchange, response: Response): void {
  try {
    send(exchange, prepareTextResponse(response) ?? prepare(exchange, response));
  } catch (error) {
    failExchange(exchange, error);
  }
}

function send(exchange: NodeExchange, prepared: PreparedResponse): void {
  const { request, response: out } = exchange;
  const { status, body } = prepared;
  if (exchange.isGone) {
    discard(body);
    return;
  }
  exchange.leaveBody();
  if (typeof body === "string") {
    const length = Buffer.byteLength(body);
    writeHead(exchange, prepared, length);
    if (request.method === "HEAD") {
      out.end();
    } else {
      exchange.bytes = length;
      // As many bytes as characters means ASCII, which is written faster as Latin-1.
      out.end(body, length === body.length ? "latin1" : "utf8");
    }
  } else if (body === null || body === undefined || isNullBodyStatus(status)) {
    discard(body);
    writeHead(exchange, prepared, lengthOfNothing(status, request.method));
    out.end();
  } else if (ArrayBuffer.isView(body)) {
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    writeHead(exchange, prepared, bytes.byteLength);
    if (request.method === "HEAD") {
      out.end();
    } else {
      exchange.bytes = bytes.byteLength;
      out.end(bytes);
    }
  } else {
    sendStream(exchange, prepared, toStream(body));
  }
}

function prepare(exchange: NodeExchange, response: unknown): PreparedResponse {
  if (!(response instanceof Response)) {
    throw notAResponse(response);
  }
  if (isSrvxResponse(response)) {
    claimResponse(response, exchange.context);
    return response._toNodeResponse();
  }
  const { status, statusText, body } = response;
  if (status === 0)
    throw new HttpUsageError("ERR_HTTP_RESPONSE", "the handler returned Response.error()");
  if (body !== null) claimResponse(response, exchange.context);
  if (response.bodyUsed) {
    throw new HttpUsageError(
      "ERR_HTTP_RESPONSE",
      "the handler returned a Response whose body is used",
    );
  }
  const headers: string[] = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  return { status, statusText, headers, body };
}

/** Whether the response is of srvx's own class, by its contract with srvx's sender. */
function isSrvxResponse(
  response: Response,
): response is Response & { _toNodeResponse(): PreparedResponse } {
  return "_toNodeResponse" in response && typeof response._toNodeResponse === "function";
}

function lengthOfNothing(status: number, method: string | undefined): number | undefined {
  // RFC 9110, 8.6: never with 204; with 304 and HEAD it would have to be the length of the GET.
  return status === 204 || status === 304 || method === "HEAD" ? undefined : 0;
}

function toStream(body: unknown): ReadableStream<unknown> {
  if (body instanceof ReadableStream) return body;
  // The same class; the two sets of types differ.
  if (body instanceof Readable) return Readable.toWeb(body) as unknown as ReadableStream<unknown>;
  throw new HttpUsageError(
    "ERR_HTTP_RESPONSE",
    `the handler returned a Response with a body of type ${typeof body}`,
  );
}

function discard(body: unknown): void {
  if (body instanceof ReadableStream) {
    // A locked stream is somebody else's to end.
    if (!body.locked) body.cancel().catch(() => undefined);
  } else if (body instanceof Readable) {
    body.destroy();
  }
}
