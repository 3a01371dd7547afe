import { FastResponse } from "srvx";

/** The body of a response. */
export type ReplacedBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** What a new response copies from an old one. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;
}

/**
 * Makes a response with another body and other headers. It keeps all else of the first one, even what only `fetch` can
 * set: `url` and `redirected`. On Node it goes out without the platform's `Response`, and text and bytes with their
 * length.
 */
export function replaceBody(head: ResponseHead, body: ReplacedBody, headers: Headers): Response {
  const { status, statusText, url, redirected } = head;
  // The platform accepts any stream of bytes; the types restrict the memory that holds them.
  const replaced = new FastResponse(body as BodyInit | null, { status, statusText, headers });
  if (url !== "") {
    Object.defineProperty(replaced, "url", { value: url, configurable: true });
    Object.defineProperty(replaced, "redirected", { value: redirected, configurable: true });
  }
  return replaced;
}

/** The parts of a response, which must not be used any more. */
export interface TakenResponse extends ResponseHead {
  readonly headers: Headers;
  /** Text and bytes when the platform's `Response` was not made yet. */
  readonly body: ReplacedBody;
}

/** Takes a response apart without turning a whole body into a stream. */
export function takeResponse(response: Response): TakenResponse {
  const { status, statusText } = response;
  if (!isPreparable(response)) {
    const { url, redirected, body } = response;
    return { status, statusText, url, redirected, headers: new Headers(response.headers), body };
  }
  // Asking it for its address would make the platform's `Response`; it has none.
  const head = { status, statusText, url: "", redirected: false };
  const prepared = response._toNodeResponse();
  const headers = new Headers();
  for (let index = 0; index + 1 < prepared.headers.length; index += 2) {
    headers.append(String(prepared.headers[index]), String(prepared.headers[index + 1]));
  }
  const { body } = prepared;
  if (typeof body === "string" || body === null || body === undefined) {
    return { ...head, headers, body: body ?? null };
  }
  if (body instanceof ReadableStream) return { ...head, headers, body };
  if (ArrayBuffer.isView(body)) {
    // Bytes that are passed to a `Response` belong to it, so nothing else changes them.
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { ...head, headers, body: bytes as Uint8Array<ArrayBuffer> };
  }
  // A stream of Node: `Response` on Node takes whatever can be iterated.
  return { ...head, headers, body: new Response(body as BodyInit).body };
}

/** Whether the body was read. Does not create a native `Response` to find out. */
export function isBodyUsed(response: Response): boolean {
  return !isPreparable(response) && response.bodyUsed;
}

/** srvx's contract with its sender; `json()` and `text()` keep to it too. */
interface Preparable {
  _toNodeResponse(): { readonly headers: readonly unknown[]; readonly body: unknown };
}

function isPreparable(response: Response): response is Response & Preparable {
  return "_toNodeResponse" in response && typeof response._toNodeResponse === "function";
}
