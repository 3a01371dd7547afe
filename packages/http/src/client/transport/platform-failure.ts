import { HttpUsageError } from "../../errors.ts";
import { redactUrl } from "./redact-url.ts";
import { connectionReasonOf, systemCodeOf } from "./system-code.ts";
import {
  AbortError,
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  TransportError,
  type ConnectionFailure,
  type TransportErrorDetails,
} from "./transport-errors.ts";
import type { TransportRequest } from "./transport.ts";

/** Makes our error of what a platform's `fetch`, or its response body, failed with. */
export function platformFailure(thrown: unknown, request: TransportRequest): Error {
  if (thrown instanceof TransportError) return thrown;
  const usage = causeNamed(thrown, "HttpUsageError");
  if (usage instanceof HttpUsageError && usage.code === "ERR_HTTP_BODY") return usage;
  const { method, timeouts, signal } = request;
  const details = { method, url: redactUrl(request.url) };
  if (signal?.aborted === true) return new AbortError({ ...details, cause: signal.reason });
  const parserError = causeNamed(thrown, "HTTPParserError");
  if (parserError !== undefined) {
    // The error itself holds what the server sent.
    const cause = new Error(parserError.message);
    return new ProtocolError("the response is not HTTP", { ...details, cause });
  }
  const code = systemCodeOf(thrown);
  const more = { ...details, cause: thrown };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return new TimeoutError("connect", timeouts.connect, more);
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT")
    return new TimeoutError("headers", timeouts.headers, more);
  if (code === "UND_ERR_BODY_TIMEOUT") return new TimeoutError("body", timeouts.body, more);
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW") {
    return new TooLargeError("headers", 16_384, more);
  }
  if (code !== undefined && /^(?:HPE_|Z_|UND_ERR_RES_)/.test(code)) {
    return new ProtocolError("the response is malformed", more);
  }
  return connectionFailure(code, more);
}

/** Makes the error of a connection that failed with a code of the platform, or without one. */
export function connectionFailure(
  systemCode: string | undefined,
  details: TransportErrorDetails,
): ConnectionError {
  const reason = connectionReasonOf(systemCode);
  const suffix = systemCode === undefined ? "" : ` (${systemCode})`;
  return new ConnectionError(reason, `${problems[reason]}${suffix}`, { ...details, systemCode });
}

const problems: Readonly<Record<ConnectionFailure, string>> = {
  refused: "the server refuses the connection",
  reset: "the connection was reset",
  dns: "the name of the server cannot be resolved",
  tls: "there is no secure connection",
  unreachable: "the server cannot be reached",
  proxy: "the proxy fails",
  other: "the connection failed",
};

function causeNamed(thrown: unknown, name: string, depth: number = 0): Error | undefined {
  if (!(thrown instanceof Error) || depth > 4) return undefined;
  return thrown.name === name ? thrown : causeNamed(thrown.cause, name, depth + 1);
}
