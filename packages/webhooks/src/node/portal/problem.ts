import { json } from "@fetchwork/http";

/** Headers of every response of the API: no cache keeps it, and no page shows or embeds it. */
export const apiHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
} as const;

/** A status of a {@link Problem}. */
type ProblemStatus = keyof typeof titles;

/** Ends a request with an error as RFC 9457 describes. */
export class Problem extends Error {
  readonly status: ProblemStatus;
  readonly #code: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    status: ProblemStatus,
    detail: string,
    {
      code,
      headers = {},
    }: { readonly code?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.status = status;
    this.#code = code;
    this.#headers = headers;
  }

  toResponse(): Response {
    const { status, message: detail } = this;
    const code = this.#code;
    return json(
      { type: "about:blank", title: titles[status], status, detail, ...(code && { code }) },
      {
        status,
        headers: { ...apiHeaders, "content-type": "application/problem+json", ...this.#headers },
      },
    );
  }
}
