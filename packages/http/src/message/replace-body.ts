import { HeaderList } from "./header-list.ts";
import { isLazy, LazyResponse, ResponseParts, type ResponseBody } from "./fast-response.ts";

/** A response taken apart. */
export interface TakenResponse {
  readonly status: number;
  readonly statusText: string;
  /** URL that `fetch` got the response from; empty for all others. */
  readonly url: string;
  /** Whether `fetch` was redirected to it. */
  readonly redirected: boolean;
  /** A copy, with the length of a body that is whole. */
  readonly headers: Headers;
  /** Text and bytes where the platform's `Response` was not made yet. */
  readonly body: ResponseBody;
}

/**
 * Takes a response apart, to make another one with {@link replaceBody}. The response must not be
 * used any more. Makes no stream of a body that is whole.
 */
export function takeResponse(response: Response): TakenResponse {
  const { status, statusText, url, redirected } = response;
  const headers = HeaderList.from(response.headers);
  const body = LazyResponse.is(response) ? LazyResponse.prepare(response).body : response.body;
  if (body !== null && !(body instanceof ReadableStream)) {
    headers.set("content-length", String(sizeOf(body)));
  }
  return { status, statusText, url, redirected, headers, body };
}

/**
 * Makes a response with another body and other headers. It keeps the rest of `head`, also what only
 * `fetch` can set: `url` and `redirected`. On Node it is sent without the platform's `Response`,
 * and text and bytes with their length.
 *
 * @param headers - Belong to the new response from then on.
 */
export function replaceBody(
  head: Pick<TakenResponse, "status" | "statusText" | "url" | "redirected">,
  body: ResponseBody,
  headers: Headers,
): Response {
  const { status, statusText, url, redirected } = head;
  const replaced = isLazy
    ? new LazyResponse(
        body as BodyInit | null,
        new ResponseParts(status, statusText, headers, false),
      )
    : // The platform takes any stream of bytes; the types differ about where these may be. And
      // Deno takes our headers as a list only.
      new Response(body as BodyInit | null, { status, statusText, headers: [...headers] });
  if (url !== "") {
    Object.defineProperty(replaced, "url", { value: url, configurable: true });
    Object.defineProperty(replaced, "redirected", { value: redirected, configurable: true });
  }
  return replaced;
}

function sizeOf(body: string | Uint8Array): number {
  return (typeof body === "string" ? new TextEncoder().encode(body) : body).byteLength;
}
