import { HttpUsageError } from "../../errors.ts";
import { redactUrl } from "../../client/transport/redact-url.ts";
import { connectionFailure } from "../../client/transport/platform-failure.ts";
import { systemCodeOf } from "../../client/transport/system-code.ts";
import type { TransportRequest } from "../../client/transport/transport.ts";
import {
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  TransportError,
  type TransportErrorDetails,
} from "../../client/transport/transport-errors.ts";
import { DecodedTooLarge } from "./content-coding.ts";
import { ProxyFailure } from "./tunnel-connector.ts";
import { UploadFailure } from "./upload-body.ts";

/** How far an exchange was when it failed. */
export type ExchangePhase = "connecting" | "waiting" | "head" | "body";

/** Facts about an exchange that failed. */
export interface FailureContext {
  readonly request: TransportRequest;
  readonly phase: ExchangePhase;
  /** Maximum bytes of a response's head. */
  readonly maxHeaderSize: number;
}

/**
 * Turns what undici and the platform report into an error of ours. Errors of the platform become
 * its `cause`; undici's do not, since some hold what the server sent.
 */
export function toTransportFailure(error: unknown, context: FailureContext): Error {
  if (error instanceof TransportError || error instanceof HttpUsageError) return error;
  const details = detailsOf(context.request);
  if (error instanceof DecodedTooLarge) {
    return new TooLargeError("body", context.request.maxResponseSize, details);
  }
  if (error instanceof UploadFailure) {
    return new ConnectionError("other", error.message, { ...details, cause: error.cause });
  }
  if (error instanceof ProxyFailure) {
    const { code: systemCode, cause } = error;
    return new ConnectionError("proxy", error.message, { ...details, systemCode, cause });
  }
  const code = systemCodeOf(error);
  if (code?.startsWith("UND_ERR") === true) return ofUndici(code, text(error), context);
  if (error instanceof Error && error.name === "HTTPParserError") {
    return new ProtocolError(`the response is not HTTP/1.1${parserReason(error)}`, details);
  }
  // undici asserts what it wants of a response, such as a status of 100 or more.
  if (code === "ERR_ASSERTION") return new ProtocolError("the response is not HTTP/1.1", details);
  if (code?.startsWith("ERR_HTTP2_") === true) {
    const reason = http2Code(code, error);
    return new ProtocolError(`the server ended the HTTP/2 stream (${reason})`, details);
  }
  return connectionFailure(code, error instanceof Error ? { ...details, cause: error } : details);
}

function ofUndici(code: string, problem: string, context: FailureContext): Error {
  const details = detailsOf(context.request);
  const { timeouts } = context.request;
  switch (code) {
    case "UND_ERR_CONNECT_TIMEOUT":
      return new TimeoutError("connect", timeouts.connect, details);
    case "UND_ERR_HEADERS_TIMEOUT":
      return new TimeoutError("headers", timeouts.headers, details);
    case "UND_ERR_BODY_TIMEOUT":
      return new TimeoutError("body", timeouts.body, details);
    case "UND_ERR_HEADERS_OVERFLOW":
      return new TooLargeError("headers", context.maxHeaderSize, details);
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      return new ProtocolError("the length of the body differs from Content-Length", details);
    case "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH":
      return new HttpUsageError("ERR_HTTP_HEADER", "the header content-length is wrong");
    case "UND_ERR_INVALID_ARG":
    case "UND_ERR_NOT_SUPPORTED":
      return new HttpUsageError("ERR_HTTP_HEADER", `the request cannot be sent: ${problem}`);
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return new HttpUsageError("ERR_HTTP_CLIENT_CLOSED", "the transport is closed");
    case "UND_ERR_SOCKET":
    case "UND_ERR_INFO":
      return lost(problem, context.phase, details);
    default:
      return connectionFailure(code, details);
  }
}

/** Method and URL for an error's message. */
export function detailsOf(request: TransportRequest): TransportErrorDetails {
  return { method: request.method, url: redactUrl(request.url) };
}

/** Whether a connection was lost, as opposed to a server that sent something wrong. */
export function isConnectionLoss(error: unknown): boolean {
  const code = systemCodeOf(error);
  if (code === "UND_ERR_SOCKET") return !text(error).startsWith("bad ");
  return code === "ECONNRESET" || code === "EPIPE" || code === "ECONNABORTED";
}

/** Whether a request met a session of HTTP/2 that had already ended, and so was not sent. */
export function isDyingSession(error: unknown): boolean {
  return systemCodeOf(error) === "ERR_HTTP2_INVALID_SESSION";
}

function lost(problem: string, phase: ExchangePhase, details: TransportErrorDetails): Error {
  if (phase === "body") return new ProtocolError("the connection ended within the body", details);
  if (problem === "bad response" || problem === "bad upgrade") {
    return new ProtocolError("the server sent an unexpected response", details);
  }
  const where = phase === "head" ? "within its response's head" : "before it answered";
  return new ConnectionError("reset", `the server closed the connection ${where}`, details);
}

/** Returns what the parser expected: one of the parser's texts, no part of the response. */
function parserReason(error: Error): string {
  const reason = /\(([^()]{1,80})\)$/.exec(error.message)?.[1];
  return reason === undefined ? "" : ` (${reason})`;
}

function http2Code(systemCode: string, error: unknown): string {
  const code =
    error instanceof Error && "http2ErrorCode" in error ? error.http2ErrorCode : undefined;
  return typeof code === "number" ? `${systemCode}, ${code}` : systemCode;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
