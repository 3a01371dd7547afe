import { STATUS_CODES } from "node:http";
import { json } from "@fetchwork/http";
import { RestError } from "./errors.ts";
import type { FieldError } from "./field-error.ts";

/** Parts of a {@link Problem} in addition to its status. */
export interface ProblemOptions {
  /** Description of the fault in this case, for a person. Default: the name of the status. */
  readonly detail?: string | undefined;
  /** Fields and parameters that were refused. */
  readonly errors?: readonly FieldError[] | undefined;
  /** Headers that belong to the response, such as `WWW-Authenticate` or `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Error that led to the problem, for the report of a status from 500 up. Never sent. */
  readonly cause?: unknown;
}

/** Where Node has no registered name of a status (RFC 9110, 15, and the registry of IANA). */
const titles: Readonly<Record<number, string>> = {
  413: "Content Too Large",
  418: "Error",
  422: "Unprocessable Content",
  509: "Error",
};

/**
 * Refuses a request: thrown by a handler, it becomes the response, as `application/problem+json`
 * (RFC 9457).
 *
 * With `errors`, the members `valid`, `param`, `name` and `message` of the first one stand at the
 * top level too.
 *
 * @example
 * ```ts
 * throw new Problem(409, { detail: "the article is archived" });
 * ```
 */
export class Problem extends Error {
  override readonly name = "Problem" as const;
  readonly status: number;
  /** Its message is for the client, also where another part of a server sends it. */
  readonly expose = true;
  /** Faults of single fields or parameters; empty for other problems. */
  readonly errors: readonly FieldError[];
  /** Headers of the response, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, options: ProblemOptions = {}) {
    const { detail, errors = [], headers = {}, cause } = options;
    super(detail ?? errors[0]?.message ?? titleOf(status), cause === undefined ? {} : { cause });
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RestError(
        "ERR_REST_DEFINITION",
        `the status of a problem must be from 400 to 599, got ${status}`,
      );
    }
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }

  /** Makes the response. */
  toResponse(): Response {
    const first = this.errors[0];
    const body = {
      type: "about:blank",
      title: titleOf(this.status),
      status: this.status,
      detail: this.message,
      ...(first ?? { message: this.message }),
      ...(first ? { errors: this.errors } : {}),
    };
    return json(body, {
      status: this.status,
      headers: { "content-type": "application/problem+json", ...this.headers },
    });
  }
}

/** Refuses fields or parameters with 400. */
export function badFields(errors: readonly FieldError[]): Problem {
  return new Problem(400, { errors });
}

/** Names a status. */
export function titleOf(status: number): string {
  return titles[status] ?? STATUS_CODES[status] ?? "Error";
}

/** Refuses a request for something that does not exist; `what` names it: `article`. */
export function notFound(what = "document"): Problem {
  return new Problem(404, { detail: `${what} not found` });
}
