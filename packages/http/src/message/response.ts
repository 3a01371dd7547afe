import { HttpUsageError } from "../errors.ts";
import { HeaderList } from "./header-list.ts";
import {
  isLazy,
  isNullBodyStatus,
  LazyResponse,
  ResponseParts,
  textType,
} from "./fast-response.ts";

/** Valid parts of a response that has a text or no body. */
export interface ResponseDraft {
  readonly text: string | null;
  readonly status: number;
  readonly statusText: string;
  /** Belongs to the response from then on. */
  readonly headers: HeaderList;
}

const jsonType = ["content-type", "application/json"] as const;

/**
 * Makes a response with a value as JSON.
 *
 * Sets `Content-Type: application/json` unless `init` has a type. On Node it is sent with
 * `Content-Length` and without constructing the platform's `Response`, which makes it cheap; it is
 * a `Response` nevertheless when it is read.
 *
 * @throws HttpUsageError `ERR_HTTP_JSON` when the value cannot be written as JSON (`undefined`, a
 * function, a cycle)
 * @throws HttpUsageError `ERR_HTTP_STATUS` when the status is not 200 to 599, or allows no body
 */
export function json(value: unknown, init?: ResponseInit): Response {
  return makeResponse(stringify(value), jsonType, init);
}

/**
 * Makes a response with a text.
 *
 * Sets `Content-Type: text/plain;charset=UTF-8` unless `init` has a type. As cheap as {@link json}.
 *
 * @throws HttpUsageError `ERR_HTTP_STATUS` when the status is not 200 to 599, or allows no body
 */
export function text(body: string, init?: ResponseInit): Response {
  return makeResponse(body, textType, init);
}

/**
 * Makes a response without a body.
 *
 * @param status - Default: 204.
 * @throws HttpUsageError `ERR_HTTP_STATUS` when the status is not 200 to 599
 */
export function empty(
  status = 204,
  init?: { readonly headers?: ResponseInit["headers"] | undefined },
): Response {
  checkStatus(status);
  const headers = HeaderList.from(init?.headers);
  return makeTextResponse({ text: null, status, statusText: "", headers });
}

/** Makes a response from parts that are known to be valid. */
export function makeTextResponse({ text, status, statusText, headers }: ResponseDraft): Response {
  if (isLazy) return new LazyResponse(text, new ResponseParts(status, statusText, headers, true));
  // A list: Deno looks inside what is a `Headers` by its prototype, and finds nothing there.
  return new Response(text, { status, statusText, headers: [...headers] });
}

/**
 * Returns whether a response was made by {@link json}, {@link text}, {@link empty} or of a whole
 * body by `FastResponse`. Exchanges may share it, and nothing has to be read before it is sent.
 */
export function isWhole(response: Response): boolean {
  return LazyResponse.is(response) && LazyResponse.isShared(response);
}

function makeResponse(
  body: string,
  type: readonly [string, string],
  init: ResponseInit | undefined,
): Response {
  const status = init?.status ?? 200;
  if (init !== undefined) {
    checkStatus(status);
    if (isNullBodyStatus(status)) {
      throw new HttpUsageError(
        "ERR_HTTP_STATUS",
        `a response of status ${status} cannot have a body; use empty(${status})`,
      );
    }
  }
  const statusText = init?.statusText ?? "";
  if (isLazy && init?.headers === undefined) {
    return new LazyResponse(body, new ResponseParts(status, statusText, type, true));
  }
  const headers = HeaderList.from(init?.headers);
  if (!headers.has("content-type")) headers.set(...type);
  return makeTextResponse({ text: body, status, statusText, headers });
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return;
  throw new HttpUsageError(
    "ERR_HTTP_STATUS",
    `status must be an integer from 200 to 599, got ${String(status)}`,
  );
}

function stringify(value: unknown): string {
  let body: string | undefined;
  try {
    body = JSON.stringify(value);
  } catch (cause) {
    throw new HttpUsageError("ERR_HTTP_JSON", "the value cannot be written as JSON", { cause });
  }
  if (body === undefined) {
    throw new HttpUsageError(
      "ERR_HTTP_JSON",
      `a value of type ${typeof value} cannot be written as JSON`,
    );
  }
  return body;
}
