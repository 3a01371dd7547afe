import { isExposedError, type ExposedError } from "@fetchwork/kit";
import { HeaderList } from "../message/header-list.ts";
import { makeTextResponse, type ResponseDraft } from "../message/response.ts";

/**
 * Returns the response of an error that asks to be one: it has an integer `status` from 400 to 599 and `expose: true`.
 * Returns `undefined` for every other error, also for that of a client which has a `status`.
 *
 * The body is the JSON object `{ "error": message, "code"?: code }`. It is never cached, unless the error says so in
 * `headers`: a plain record of header fields, such as `{ "retry-after": "5" }`, of which invalid ones and those that
 * describe the body are left out.
 *
 * Our servers, `recoverer()` of `@fetchwork/middleware` and the generated API respond so to what a handler throws.
 */
export function exposedResponse(error: unknown): Response | undefined {
  const draft = draftExposed(error);
  return draft === undefined ? undefined : makeTextResponse(draft);
}

/** Parts of a response with a text. */
export interface WholeDraft extends ResponseDraft {
  readonly text: string;
}

/** As {@link exposedResponse}, in parts. */
export function draftExposed(error: unknown): WholeDraft | undefined {
  try {
    if (!isExposedError(error)) return undefined;
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
    const text = JSON.stringify({ error: error.message, code });
    return { text, status: error.status, statusText: "", headers: headersOf(error) };
  } catch {
    // A getter or a proxy threw: an error that cannot be looked at asks for nothing.
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
