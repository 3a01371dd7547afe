import { brand, describeValue, UsageError } from "@fetchwork/kit";

/** Codes of calls that can never work. */
export type OAuth2UsageErrorCode = "ERR_OAUTH_OPTION" | "ERR_OAUTH_TARGET";

/**
 * A call that can never work: a wrong or contradictory option, a path that would change the host, a
 * target that `allowedOrigins` does not name. Nothing was sent.
 */
export class OAuth2UsageError extends UsageError {
  override readonly name: string = "OAuth2UsageError";
  /** Stable; what to test for. */
  declare readonly code: OAuth2UsageErrorCode;

  // oxlint-disable-next-line no-useless-constructor -- it takes the codes of this package only
  constructor(code: OAuth2UsageErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** A response of a server, read completely, for parsers and errors; as `OAuth2Response` is. */
export interface ResponseData {
  readonly status: number;
  readonly headers: Headers;
  /** URL that responded, after redirects. */
  readonly url: string;
  /** Media type in lower case, without parameters; empty when there is none. */
  readonly contentType: string;
  /** The body as text, decoded as UTF-8. */
  readonly body: string;
  /** The body unchanged. */
  readonly bytes: Uint8Array;
  /** The body as a value, by its media type. */
  readonly parsed: unknown;
  /** `parsed` if it is an object. */
  readonly hash: Readonly<Record<string, unknown>> | undefined;
  /** The error that the response is: with a status of 400 or above; `undefined` otherwise. */
  readonly error: OAuth2Error | undefined;
}

/** Details of an {@link OAuth2Error} in addition to its message. */
export interface OAuth2ErrorOptions extends ErrorOptions {
  /** Member `error` of the response, or one of our own codes. */
  readonly code?: string | undefined;
  /** Member `error_description` of the response. */
  readonly description?: string | undefined;
  /** Member `error_uri` of the response. */
  readonly uri?: string | undefined;
  /** The response that the error is about. */
  readonly response?: ResponseData | undefined;
}

/**
 * A server responded with an error or with an invalid response (RFC 6749, 5.2). An error that a
 * caller may want to handle is one of its subclasses or has a {@link OAuth2Error.code}. Messages
 * hold `error`, `error_description` and the status, never a body, a token or a secret.
 */
export class OAuth2Error extends Error {
  static {
    brand(this.prototype);
  }

  override readonly name: string = "OAuth2Error";
  /**
   * Member `error` of the response, such as `invalid_grant`, on one line, of 500 characters at most
   * and without secrets of the request; `undefined` when the response has none that is text. In
   * subclasses, the stable `ERR_OAUTH_...` of what went wrong.
   */
  readonly code: string | undefined;
  readonly #description: string | undefined;
  readonly #uri: string | undefined;
  readonly #response: ResponseData | undefined;

  constructor(message: string, options: OAuth2ErrorOptions = {}) {
    super(oneLine(message), "cause" in options ? { cause: options.cause } : undefined);
    this.code = options.code === undefined ? undefined : oneLine(options.code);
    this.#description = options.description;
    this.#uri = options.uri;
    this.#response = options.response;
  }

  /** Member `error_description`, unchanged: servers may repeat what they received. */
  get description(): string | undefined {
    return this.#description;
  }

  /** Member `error_uri` of the response. */
  get uri(): string | undefined {
    return this.#uri;
  }

  /** The response with its body; `undefined` when there is none. */
  get response(): ResponseData | undefined {
    return this.#response;
  }

  /** Status of the response; `undefined` when there is none. */
  get status(): number | undefined {
    return this.#response?.status;
  }
}

/** The response is unusable: malformed, too large, without a token, or with an invalid one. */
export class InvalidResponseError extends OAuth2Error {
  override readonly name: string = "InvalidResponseError";
  /** Stable; what to test for. */
  declare readonly code: "ERR_OAUTH_RESPONSE" | "ERR_OAUTH_RESPONSE_TOO_LARGE";

  constructor(
    message: string,
    { code = "ERR_OAUTH_RESPONSE", ...options }: OAuth2ErrorOptions = {},
  ) {
    super(message, { ...options, code });
  }
}

/** An impossible use of a token: refresh without refresh token, sending no value. */
export class TokenUnavailableError extends OAuth2Error {
  override readonly name: string = "TokenUnavailableError";
  /** Stable; what to test for. */
  override readonly code = "ERR_OAUTH_TOKEN";
}

/**
 * A redirect that is not followed. It is of an authorization server's endpoint, has no usable
 * `Location`, or would carry a body to another origin.
 */
export class OAuth2RedirectError extends OAuth2Error {
  override readonly name: string = "OAuth2RedirectError";
  /** Stable; what to test for. */
  override readonly code = "ERR_OAUTH_REDIRECT";
}

/** The server was not reached, or the connection broke before the response ended; see `cause`. */
export class OAuth2ConnectionError extends OAuth2Error {
  override readonly name: string = "OAuth2ConnectionError";
  /** Stable; what to test for. */
  declare readonly code: "ERR_OAUTH_CONNECTION" | "ERR_OAUTH_TIMEOUT";

  constructor(
    message: string,
    {
      code = "ERR_OAUTH_CONNECTION",
      ...options
    }: ErrorOptions & { readonly code?: "ERR_OAUTH_CONNECTION" | "ERR_OAUTH_TIMEOUT" } = {},
  ) {
    super(message, { ...options, code });
  }
}

/** The response was not complete after `milliseconds`. */
export class OAuth2TimeoutError extends OAuth2ConnectionError {
  override readonly name: string = "OAuth2TimeoutError";
  /** Time that the request had, in milliseconds. */
  readonly milliseconds: number;

  constructor(milliseconds: number, options: ErrorOptions = {}) {
    super(`no complete response within ${milliseconds} ms`, {
      ...options,
      code: "ERR_OAUTH_TIMEOUT",
    });
    this.milliseconds = milliseconds;
  }
}

/** Codes of failures of a {@link TokenStore}. */
export class TokenStoreError extends OAuth2Error {
  override readonly name: string = "TokenStoreError";
  /** Stable; what to test for. */
  override readonly code = "ERR_OAUTH_STORE";
}

/**
 * The authorization server sent the browser back with an error (RFC 6749, 4.1.2.1), or the callback
 * is not the transaction's. Servers that know `status` and `expose` respond with 400 and the
 * message.
 */
export class AuthorizationResponseError extends OAuth2Error {
  override readonly name: string = "AuthorizationResponseError";
  /** The parameter `error`, such as `access_denied`; else `ERR_OAUTH_CALLBACK`. */
  declare readonly code: string;
  /** The client may read the message. */
  readonly expose = true;

  constructor(
    message: string,
    { code = "ERR_OAUTH_CALLBACK", ...options }: OAuth2ErrorOptions = {},
  ) {
    super(message, { ...options, code });
  }

  /** The status of the response to the browser. */
  override get status(): 400 {
    return 400;
  }
}

/** Makes an {@link OAuth2UsageError} about an option; `found` must not be secret. */
export function optionError(option: string, found: unknown, expected: string): OAuth2UsageError {
  return new OAuth2UsageError(
    "ERR_OAUTH_OPTION",
    `${option} must be ${expected}, got ${describeValue(found)}`,
  );
}

/** Shortens a text of a server to one line: it must not forge lines of a log, and not fill it. */
function oneLine(text: string): string {
  const shown = text.length > 500 ? `${text.slice(0, 500)}...` : text;
  return shown.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
