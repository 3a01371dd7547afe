import { json } from "@fetchwork/http";
import { RestError } from "./errors.ts";
import type { FieldError } from "./field-error.ts";

/** What a {@link Problem} has in addition to its status. */
export interface ProblemOptions {
  /** What went wrong in this case, for a person. Default: the name of the status. */
  readonly detail?: string | undefined;
  /** Fields and parameters that were refused. */
  readonly errors?: readonly FieldError[] | undefined;
  /** Headers that belong to the answer, such as `WWW-Authenticate` or `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What led to it, for the report of a status from 500 up. Never answered. */
  readonly cause?: unknown;
}

/** Names of the statuses (RFC 9110, 15, and the registry of IANA). */
const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  407: "Proxy Authentication Required",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  421: "Misdirected Request",
  422: "Unprocessable Content",
  423: "Locked",
  424: "Failed Dependency",
  425: "Too Early",
  426: "Upgrade Required",
  428: "Precondition Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  451: "Unavailable For Legal Reasons",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  506: "Variant Also Negotiates",
  507: "Insufficient Storage",
  508: "Loop Detected",
  510: "Not Extended",
  511: "Network Authentication Required",
};

/**
 * Refuses a request: thrown by a handler, it becomes the answer, as `application/problem+json` (RFC 9457).
 *
 * With `errors`, the members `valid`, `param`, `name` and `message` of the first one stand at the top level too.
 *
 * @example
 * ```ts
 * throw new Problem(409, { detail: "the article is archived" });
 * ```
 */
export class Problem extends Error {
  override readonly name = "Problem" as const;
  readonly status: number;
  /** Its message is for the client, also where another part of a server answers for it. */
  readonly expose = true;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, options: ProblemOptions = {}) {
    const { detail, errors = [], headers = {}, cause } = options;
    super(detail ?? errors[0]?.message ?? titleOf(status), cause === undefined ? {} : { cause });
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RestError(
        "ERR_REST_DEFINITION",
        `a problem has the status ${status}, not 400 to 599`,
      );
    }
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }

  /** Makes the answer. */
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
  return titles[status] ?? "Error";
}

/** Refuses a request for something that does not exist; `what` names it: `article`. */
export function notFound(what = "document"): Problem {
  return new Problem(404, { detail: `${what} not found` });
}
