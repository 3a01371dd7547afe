import { FetchworkError, UsageError } from "@fetchwork/kit/errors";

/** Codes of errors at run time. */
export type HttpErrorCode =
  | "ERR_HTTP_ABORTED"
  | "ERR_HTTP_CONNECTION"
  | "ERR_HTTP_CONTENT_LENGTH"
  | "ERR_HTTP_LISTEN"
  | "ERR_HTTP_LISTENER_CLOSED"
  | "ERR_HTTP_PAGE"
  | "ERR_HTTP_PROTOCOL"
  | "ERR_HTTP_REDIRECT"
  | "ERR_HTTP_REST"
  | "ERR_HTTP_SCHEMA"
  | "ERR_HTTP_TIMEOUT"
  | "ERR_HTTP_TOO_LARGE";

/** Codes of wrong use by the programmer. */
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

/** An exchange or a server failed. */
export class HttpError extends FetchworkError {
  override readonly name: string = "HttpError";
  declare readonly code: HttpErrorCode;

  // oxlint-disable-next-line no-useless-constructor -- it narrows the type of the code
  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A call that cannot work: an invalid option, no `Response`, a header with a line break. */
export class HttpUsageError extends UsageError {
  override readonly name: string = "HttpUsageError";
  declare readonly code: HttpUsageErrorCode;

  // oxlint-disable-next-line no-useless-constructor -- it narrows the type of the code
  constructor(code: HttpUsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A server could not listen; `cause` is the error of the system. */
export class ListenError extends HttpError {
  override readonly name: string = "ListenError";
  /** Code of the system, such as `EADDRINUSE` or `EACCES`. */
  readonly systemCode: string;
  /** Port of the options. */
  readonly port: number;
  /** Address of the options, if they had one. */
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

/** Makes the error for a returned value that is not a `Response`; the value may be secret. */
export function notAResponse(returned: unknown): HttpUsageError {
  const advice =
    typeof returned === "function" ? "; was a middleware passed without being called?" : "";
  return new HttpUsageError(
    "ERR_HTTP_RESPONSE",
    `the handler must return a Response, got ${typeof returned}${advice}`,
  );
}
