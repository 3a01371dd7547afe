/** A response that is not a success. Its message is for the client. */
export class HttpFailure extends Error {
  override readonly name: string = "HttpFailure";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the same request may work later. */
  readonly retryable: boolean;

  constructor(
    status: number,
    code: string,
    message: string,
    options: {
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly retryable?: boolean | undefined;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.retryable = options.retryable ?? false;
  }
}

/** There is no such thing. */
export function notFound(what: "artifact" | "page" | "step" | "task"): HttpFailure {
  return new HttpFailure(404, "not_found", `there is no such ${what}`);
}

/** There is such a thing, but not with this method. GET includes HEAD. */
export function wrongMethod(methods: readonly string[]): HttpFailure {
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].join(", ");
  return new HttpFailure(405, "method", `${allow} is expected`, { headers: { allow } });
}

/** The request is not what was expected. */
export function invalid(message: string): HttpFailure {
  return new HttpFailure(422, "invalid", message);
}

/** More is sent than is taken. */
export function tooLarge(message: string): HttpFailure {
  return new HttpFailure(413, "too_large", message);
}

/** Whether a request declares a longer body. An undeclared length is counted on arrival. */
export function saysMoreThan(limit: number, { headers }: Request): boolean {
  return Number(headers.get("content-length") ?? 0) > limit;
}
