import { FetchworkError, UsageError } from "@fetchwork/kit";

/** Codes of the errors that this package makes. */
export type HttpErrorCode =
  | "ERR_HTTP_ABORTED"
  | "ERR_HTTP_CONNECTION"
  | "ERR_HTTP_CONTENT_LENGTH"
  | "ERR_HTTP_LISTEN"
  | "ERR_HTTP_LISTENER_CLOSED"
  | "ERR_HTTP_PROTOCOL"
  | "ERR_HTTP_REDIRECT"
  | "ERR_HTTP_REST"
  | "ERR_HTTP_TIMEOUT"
  | "ERR_HTTP_TOO_LARGE";

/** Codes of the mistakes of a programmer that this package refuses. */
export type HttpUsageErrorCode =
  | "ERR_HTTP_BODY"
  | "ERR_HTTP_BODY_USED"
  | "ERR_HTTP_CLIENT_CLOSED"
  | "ERR_HTTP_CONTEXT"
  | "ERR_HTTP_HANDLER"
  | "ERR_HTTP_HEADER"
  | "ERR_HTTP_JSON"
  | "ERR_HTTP_METHOD"
  | "ERR_HTTP_NATIVE_REQUEST"
  | "ERR_HTTP_OPTION"
  | "ERR_HTTP_RESPONSE"
  | "ERR_HTTP_RESPONSE_SHARED"
  | "ERR_HTTP_STATUS"
  | "ERR_HTTP_URL";

/** Something that went wrong while an exchange or a server ran. */
export class HttpError extends FetchworkError {
  override readonly name: string = "HttpError";
  declare readonly code: HttpErrorCode;

  // oxlint-disable-next-line no-useless-constructor -- it narrows the type of the code
  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A call that can never work: a wrong option, a handler that returns no `Response`, a header with a line break. */
export class HttpUsageError extends UsageError {
  override readonly name: string = "HttpUsageError";
  declare readonly code: HttpUsageErrorCode;

  // oxlint-disable-next-line no-useless-constructor -- it narrows the type of the code
  constructor(code: HttpUsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A server could not listen; `cause` is the error of the platform. */
export class ListenError extends HttpError {
  override readonly name: string = "ListenError";
  /** Code of the platform, such as `EADDRINUSE` or `EACCES`. */
  readonly systemCode: string;
  /** Port that was asked for. */
  readonly port: number;
  /** Address that was asked for, if one was. */
  readonly hostname: string | undefined;

  constructor(
    message: string,
    details: {
      readonly systemCode: string;
      readonly port: number;
      readonly hostname: string | undefined;
      readonly cause: unknown;
    },
  ) {
    super("ERR_HTTP_LISTEN", message, { cause: details.cause });
    this.systemCode = details.systemCode;
    this.port = details.port;
    this.hostname = details.hostname;
  }
}

/** Makes the error for a value that a handler returned in place of a `Response`; the value may be secret. */
export function notAResponse(returned: unknown): HttpUsageError {
  const advice =
    typeof returned === "function" ? "; was a middleware passed without being called?" : "";
  return new HttpUsageError(
    "ERR_HTTP_RESPONSE",
    `the handler returned ${typeof returned}, expected a Response${advice}`,
  );
}
