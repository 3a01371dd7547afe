import type { RestResponse } from "@fetchwork/http";
import { FetchworkError, isObject } from "@fetchwork/kit";
import type { FieldError } from "../field-error.ts";

/** Codes of {@link ClientError}. Each has a row in `docs/errors.md`. */
export type ClientErrorCode = "ERR_REST_RESPONSE" | "ERR_REST_DESCRIPTION" | "ERR_REST_OPERATION";

/** One field or parameter that the API refused. */
type RefusedField = Omit<FieldError, "valid">;

/**
 * A call that cannot be made, or a response that cannot be read.
 *
 * - `ERR_REST_OPERATION`: the API has no such operation, or the call lacks a parameter of its path.
 * - `ERR_REST_DESCRIPTION`: the description of the API cannot be had or is none.
 * - `ERR_REST_RESPONSE`: a successful response is not the JSON or text that it should be.
 */
export class ClientError extends FetchworkError {
  override readonly name = "ClientError" as const;
  declare readonly code: ClientErrorCode;

  // It narrows the codes.
  // oxlint-disable-next-line no-useless-constructor
  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/**
 * The API refused a request: a status of 400 or more, with what its `application/problem+json` (RFC
 * 9457) says.
 *
 * @example
 * ```ts
 * const saved = await client.articles.create({ title: "" }).catch((error: unknown) => {
 *   if (error instanceof ProblemError && error.status === 400) return error.errors;
 *   throw error;
 * });
 * ```
 */
export class ProblemError extends FetchworkError {
  override readonly name = "ProblemError" as const;
  declare readonly code: "ERR_REST_PROBLEM";
  /** Status of the response. */
  readonly status: number;
  /** The field or parameter at fault; the first one of {@link ProblemError.errors}. */
  readonly param: string | undefined;
  /** The rule that {@link ProblemError.param} breaks. */
  readonly rule: string | undefined;
  /** All fields and parameters at fault. */
  readonly errors: readonly RefusedField[];
  /** Unparsed `Retry-After`: how long the API asks to wait before the next try. */
  readonly retryAfter: string | undefined;
  /** Current entity tag, with a 412. */
  readonly etag: string | undefined;

  constructor(response: RestResponse) {
    const problem = problemOf(response);
    super(
      "ERR_REST_PROBLEM",
      messageOf(problem) ?? `the API responded with status ${response.statusCode}`,
    );
    const errors = listOf(problem["errors"]);
    this.status = response.statusCode;
    this.errors = errors;
    this.param = errors[0]?.param;
    this.rule = errors[0]?.name;
    this.retryAfter = response.header("retry-after");
    this.etag = response.header("etag");
  }
}

type Members = Readonly<Record<string, unknown>>;

const longestMessage = 1_000;

/** Nothing in an error of a server is trusted: a proxy in between may have sent it. */
function problemOf(response: RestResponse): Members {
  if (!/[/+]json\b/i.test(response.header("content-type") ?? "")) return {};
  try {
    const value: unknown = JSON.parse(response.body);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function messageOf({ detail, message, title }: Members): string | undefined {
  const found = [detail, message, title].find((text) => typeof text === "string" && text !== "");
  return typeof found === "string" ? found.slice(0, longestMessage) : undefined;
}

function listOf(errors: unknown): readonly RefusedField[] {
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(isObject)
    .flatMap(({ param, name, message, index }) =>
      typeof param === "string" && typeof name === "string" && typeof message === "string"
        ? [{ param, name, message, ...(typeof index === "number" ? { index } : {}) }]
        : [],
    );
}
