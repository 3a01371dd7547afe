import { HttpError, type HttpErrorCode } from "../../errors.ts";

/** A failure between client and server; `url` has no credentials or query values. */
export interface TransportErrorDetails {
  readonly method: string;
  /** Made by `redactUrl`. */
  readonly url: string;
  readonly cause?: unknown;
}

/** A request that got no complete response. Statuses of 400 and more are no such failure. */
export class TransportError extends HttpError {
  override readonly name: string = "TransportError";
  readonly method: string;
  /** Without credentials, fragment and the values of its query. */
  readonly url: string;

  constructor(code: HttpErrorCode, problem: string, details: TransportErrorDetails) {
    const { method, url, cause } = details;
    super(code, `${method} ${url}: ${problem}`, cause === undefined ? undefined : { cause });
    this.method = method;
    this.url = url;
  }
}

/** The part of an exchange that took too long; `total`: all attempts and waits. */
export type TimeoutPhase = "connect" | "headers" | "body" | "total";

/** `ERR_HTTP_TIMEOUT`: a part of the exchange took longer than its limit; `phase` says which. */
export class TimeoutError extends TransportError {
  override readonly name: string = "TimeoutError";
  /** The part of the exchange that took too long. */
  readonly phase: TimeoutPhase;
  /** Milliseconds that were allowed. */
  readonly limit: number;

  constructor(phase: TimeoutPhase, limit: number, details: TransportErrorDetails) {
    super("ERR_HTTP_TIMEOUT", `no ${wanted[phase]} within ${limit} ms`, details);
    this.phase = phase;
    this.limit = limit;
  }
}

const wanted: Readonly<Record<TimeoutPhase, string>> = {
  connect: "connection",
  headers: "response",
  body: "further part of the body",
  total: "complete response",
};

/** `ERR_HTTP_ABORTED`: the caller's signal fired; `cause` is its reason. */
export class AbortError extends TransportError {
  override readonly name: string = "AbortError";

  constructor(details: TransportErrorDetails) {
    super("ERR_HTTP_ABORTED", "aborted by the caller", details);
  }
}

/** Why there is no connection, or why it was lost. */
export type ConnectionFailure =
  "refused" | "reset" | "dns" | "tls" | "unreachable" | "proxy" | "other";

/** `ERR_HTTP_CONNECTION`: the server was not reached, or the connection broke; see `reason`. */
export class ConnectionError extends TransportError {
  override readonly name: string = "ConnectionError";
  /** Why the server was not reached, or the connection was lost. */
  readonly reason: ConnectionFailure;
  /** Code of the platform, such as `ECONNREFUSED`, `ENOTFOUND` or `CERT_HAS_EXPIRED`. */
  readonly systemCode: string | undefined;

  constructor(
    reason: ConnectionFailure,
    problem: string,
    details: TransportErrorDetails & { readonly systemCode?: string | undefined },
  ) {
    super("ERR_HTTP_CONNECTION", problem, details);
    this.reason = reason;
    this.systemCode = details.systemCode;
  }
}

/** `ERR_HTTP_PROTOCOL`: not HTTP, a body shorter than announced, or not decodable. */
export class ProtocolError extends TransportError {
  override readonly name: string = "ProtocolError";

  constructor(problem: string, details: TransportErrorDetails) {
    super("ERR_HTTP_PROTOCOL", problem, details);
  }
}

/** `ERR_HTTP_TOO_LARGE`: more bytes than allowed. */
export class TooLargeError extends TransportError {
  override readonly name: string = "TooLargeError";
  /** Bytes that were allowed. */
  readonly limit: number;

  constructor(part: "body" | "headers", limit: number, details: TransportErrorDetails) {
    super(
      "ERR_HTTP_TOO_LARGE",
      `the response's ${part} exceed ${limit} bytes`.replace("body exceed", "body exceeds"),
      details,
    );
    this.limit = limit;
  }
}

/** `ERR_HTTP_REDIRECT`: too many redirects, or one that cannot or must not be followed. */
export class RedirectError extends TransportError {
  override readonly name: string = "RedirectError";

  constructor(problem: string, details: TransportErrorDetails) {
    super("ERR_HTTP_REDIRECT", problem, details);
  }
}
