import { isExposedError, type ExposedError } from "@fetchwork/kit";
import { HeaderList } from "../message/header-list.ts";
import { makeTextResponse, type ResponseDraft } from "../message/response.ts";

/**
 * Returns the response for an error with an integer `status` from 400 to 599 and `expose: true`.
 * Returns `undefined` for all other errors, such as that of an HTTP client, which has a `status`
 * too.
 *
 * The body is the JSON object `{ "error": message, "code"?: code }`. It is not cached unless the
 * error's `headers` allow it: a plain record of header fields, such as `{ "retry-after": "5" }`.
 * Invalid fields and those that describe the body are ignored.
 *
 * Our servers, `recoverer()` of `@fetchwork/middleware` and the generated API respond like this to
 * what a handler throws.
 */
export function exposedResponse(error: unknown): Response | undefined {
  const draft = draftExposed(error);
  return draft === undefined ? undefined : makeTextResponse(draft);
}

/** Parts of a response with a text. */
export interface WholeDraft extends ResponseDraft {
  readonly text: string;
}

/** Does the same as {@link exposedResponse}, and returns the parts. */
export function draftExposed(error: unknown): WholeDraft | undefined {
  try {
    if (!isExposedError(error)) return undefined;
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
    const text = JSON.stringify({ error: error.message, code });
    return { text, status: error.status, statusText: "", headers: headersOf(error) };
  } catch {
    // A getter or a proxy threw.
    return undefined;
  }
}

function headersOf(error: ExposedError): HeaderList {
  const headers = HeaderList.of([]);
  if ("headers" in error && isPlainRecord(error.headers)) {
    for (const [name, value] of Object.entries(error.headers)) setValid(headers, name, value);
  }
  for (const name of bodyFields) headers.delete(name);
  headers.set("content-type", "application/json");
  headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  return headers;
}

const bodyFields = ["content-encoding", "content-length", "transfer-encoding"] as const;

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function setValid(headers: HeaderList, name: string, value: unknown): void {
  if (typeof value !== "string") return;
  try {
    headers.set(name, value);
  } catch {
    // Not a header field; the error keeps its status.
  }
}
