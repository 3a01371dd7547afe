import { HttpUsageError, notAResponse } from "../../errors.ts";
import { HeaderList } from "../../message/header-list.ts";
import {
  isNullBodyStatus,
  LazyResponse,
  type PreparedResponse,
  type ResponseBody,
} from "../../message/fast-response.ts";
import { claimResponse } from "../../message/response-owner.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { sendError } from "./send-error.ts";
import { sendStream } from "./send-stream.ts";
import { writeHead } from "./write-head.ts";

/** Sends a response. Never throws: an error ends the exchange by {@link sendError}. */
export function sendResponse(exchange: NodeExchange, response: Response): void {
  exchange.received.releaseBody();
  try {
    send(exchange, prepare(exchange, response));
  } catch (error) {
    sendError(exchange, error);
  }
}

function send(exchange: NodeExchange, prepared: PreparedResponse): void {
  const { request, response: out } = exchange;
  const { status, body } = prepared;
  if (exchange.isDisconnected) {
    discard(body);
    return;
  }
  exchange.discardUnreadBody();
  if (typeof body === "string") {
    const length = Buffer.byteLength(body);
    writeHead(exchange, prepared, length);
    if (request.method === "HEAD") {
      out.end();
    } else {
      exchange.bytes = length;
      // A text with as many bytes as characters is ASCII, which Node writes faster as Latin-1.
      out.end(body, length === body.length ? "latin1" : "utf8");
    }
  } else if (body === null || isNullBodyStatus(status)) {
    discard(body);
    writeHead(exchange, prepared, lengthWithoutBody(status, request.method));
    out.end();
  } else if (body instanceof Uint8Array) {
    writeHead(exchange, prepared, body.byteLength);
    if (request.method === "HEAD") {
      out.end();
    } else {
      exchange.bytes = body.byteLength;
      out.end(body);
    }
  } else {
    sendStream(exchange, prepared, body);
  }
}

function prepare(exchange: NodeExchange, response: unknown): PreparedResponse {
  if (!(response instanceof Response)) throw notAResponse(response);
  if (LazyResponse.is(response)) {
    if (!LazyResponse.isShared(response)) claimResponse(response, exchange.context);
    return LazyResponse.prepare(response);
  }
  const { status, statusText } = response;
  if (status === 0) {
    throw new HttpUsageError("ERR_HTTP_RESPONSE", "the handler returned Response.error()");
  }
  const { body } = response;
  if (body !== null) claimResponse(response, exchange.context);
  if (response.bodyUsed) {
    throw new HttpUsageError("ERR_HTTP_RESPONSE", "the body of the Response is used");
  }
  return { status, statusText, headers: HeaderList.fieldsOf(response.headers), body };
}

function lengthWithoutBody(status: number, method: string | undefined): number | undefined {
  // RFC 9110, 8.6: forbidden with 204; with 304 and HEAD it would have to be the length for GET.
  return status === 204 || status === 304 || method === "HEAD" ? undefined : 0;
}

function discard(body: ResponseBody): void {
  // The reader of a locked stream has to end it.
  if (body instanceof ReadableStream && !body.locked) body.cancel().catch(() => undefined);
}
