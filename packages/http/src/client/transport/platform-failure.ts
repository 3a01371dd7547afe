import { redactUrl } from "./redact-url.ts";
import {
  AbortError,
  ConnectionError,
  ProtocolError,
  TimeoutError,
  TooLargeError,
  TransportError,
  type ConnectionFailure,
} from "./transport-errors.ts";
import type { TransportRequest } from "./transport.ts";

/** Makes a transport error of what a platform's `fetch`, or the body of its response, failed with. */
export function platformFailure(thrown: unknown, request: TransportRequest): TransportError {
  if (thrown instanceof TransportError) return thrown;
  const { method, timeouts, signal } = request;
  const details = { method, url: redactUrl(request.url) };
  if (signal?.aborted === true) return new AbortError({ ...details, cause: signal.reason });
  const parserError = causeNamed(thrown, "HTTPParserError");
  if (parserError !== undefined) {
    // The error itself holds what the server sent.
    const cause = new Error(parserError.message);
    return new ProtocolError("the response is not HTTP", { ...details, cause });
  }
  const code = codeOf(thrown);
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
  const reason = reasonOf(code);
  return new ConnectionError(reason, problems[reason], { ...more, systemCode: code });
}

const problems: Readonly<Record<ConnectionFailure, string>> = {
  refused: "the server refuses connections",
  reset: "the connection broke off",
  dns: "the host name has no address",
  tls: "TLS failed",
  unreachable: "the server cannot be reached",
  proxy: "the proxy failed",
  other: "the platform could not send the request",
};

const reasons: readonly (readonly [codes: RegExp, reason: ConnectionFailure])[] = [
  [/^(?:ECONNREFUSED|ConnectionRefused)$/, "refused"],
  [/^(?:ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ConnectionClosed)$/, "reset"],
  [/^(?:ENOTFOUND|EAI_\w+)$/, "dns"],
  [/CERT|SELF_SIGNED|UNABLE_TO_|^ERR_(?:TLS|SSL)_|^EPROTO$|^HOSTNAME_MISMATCH$/, "tls"],
  [/^E(?:HOST|NET)(?:UNREACH|DOWN)$/, "unreachable"],
];

function reasonOf(code: string | undefined): ConnectionFailure {
  return reasons.find(([codes]) => code !== undefined && codes.test(code))?.[1] ?? "other";
}

/** Code of an error, of one of its causes, or of the first of several that happened together. */
function codeOf(thrown: unknown, depth: number = 0): string | undefined {
  if (typeof thrown !== "object" || thrown === null || depth > 4) return undefined;
  if ("code" in thrown && typeof thrown.code === "string") return thrown.code;
  const [first] =
    "errors" in thrown && Array.isArray(thrown.errors) ? (thrown.errors as unknown[]) : [];
  return codeOf("cause" in thrown ? thrown.cause : first, depth + 1);
}

function causeNamed(thrown: unknown, name: string, depth: number = 0): Error | undefined {
  if (!(thrown instanceof Error) || depth > 4) return undefined;
  return thrown.name === name ? thrown : causeNamed(thrown.cause, name, depth + 1);
}
