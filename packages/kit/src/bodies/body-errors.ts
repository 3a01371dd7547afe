import { FetchworkError } from "../errors/fetchwork-error.ts";

/** A body is larger than the limit. As a response it has status 413 (RFC 9110, 15.5.14). */
export class BodyTooLargeError extends FetchworkError {
  override readonly name: string = "BodyTooLargeError";
  declare readonly code: "ERR_KIT_BODY_TOO_LARGE";
  readonly status = 413;
  readonly expose = true;
  /** Maximum size in bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super("ERR_KIT_BODY_TOO_LARGE", `the body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/** All bodies together exceed their budget. As a response: 503 with `Retry-After`. */
export class BodyBudgetError extends FetchworkError {
  override readonly name: string = "BodyBudgetError";
  declare readonly code: "ERR_KIT_BODY_BUDGET";
  readonly status = 503;
  readonly expose = true;
  readonly headers: Readonly<Record<string, string>> = { "retry-after": "1" };

  constructor() {
    super("ERR_KIT_BODY_BUDGET", "too many bytes of request bodies are in memory");
  }
}
