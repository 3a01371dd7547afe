import { text } from "@fetchwork/http/responses";
import { MiddlewareError } from "../errors.ts";
import { refuse } from "../response/plain-response.ts";

const contentType = "application/json; charset=utf-8";

/** Characters that end scripts, attributes or JavaScript lines, and their JSON. */
const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/**
 * Makes a response of a value as JSON: `Content-Type: application/json; charset=utf-8`, the JSON
 * and a line break, with `<`, `>`, `&`, U+2028 and U+2029 escaped, so that it is safe inside a
 * page.
 *
 * A value without a JSON form results in a 500 as plain text without a reason; {@link encodeJSON}
 * throws instead.
 *
 * @param init - Default: status 200. Its `Content-Type` wins.
 */
export function renderJSON(value: unknown, init?: ResponseInit): Response {
  const body = tryStringify(value);
  if (body instanceof MiddlewareError) return refuse(500, "Internal Server Error");
  return makeResponse(escapeHTML(body), init);
}

/**
 * Makes a response of encoded JSON, byte for byte, as `application/json; charset=utf-8`.
 *
 * @param init - Default: status 200. Its `Content-Type` wins.
 */
export function renderJSONFromBytes(
  bytes: Uint8Array<ArrayBuffer> | string,
  init?: ResponseInit,
): Response {
  if (typeof bytes === "string") return text(bytes, withType(init));
  const headers = new Headers(withType(init).headers);
  if (!headers.has("content-length")) headers.set("content-length", String(bytes.byteLength));
  return new Response(bytes, { ...init, headers });
}

/**
 * Makes the response of {@link renderJSON}, with `<`, `>` and `&` unescaped. Never put such JSON
 * into a page.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_JSON` when the value has no JSON form
 */
export function renderJSONWithHTML(value: unknown, init?: ResponseInit): Response {
  return makeResponse(stringify(value).replace(/[\u2028\u2029]/g, escapeCharacter), init);
}

/**
 * Makes a response of a status and a value as JSON, as {@link renderJSON} writes it. The value is
 * encoded before there is a response, so a failure leaves nothing half sent. Errors while it is
 * written are in the report of `context.onFinish`.
 *
 * @example
 * ```ts
 * const handler = () => encodeJSON(201, { id: "1" });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_JSON` when the value has no JSON form (`undefined`, a
 * function, a cycle)
 * @throws HttpUsageError `ERR_HTTP_STATUS` for a status that allows no body
 */
export function encodeJSON(status: number, value: unknown, init?: ResponseInit): Response {
  return makeResponse(escapeHTML(stringify(value)), { ...init, status });
}

function makeResponse(body: string, init: ResponseInit | undefined): Response {
  return text(`${body}\n`, withType(init));
}

function withType(init: ResponseInit | undefined): ResponseInit {
  if (init?.headers === undefined) return { ...init, headers: { "content-type": contentType } };
  const headers = new Headers(init.headers);
  if (!headers.has("content-type")) headers.set("content-type", contentType);
  return { ...init, headers };
}

function escapeHTML(body: string): string {
  return body.replace(/[<>&\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return escapes[character] ?? character;
}

function stringify(value: unknown): string {
  const body = tryStringify(value);
  if (body instanceof MiddlewareError) throw body;
  return body;
}

function tryStringify(value: unknown): string | MiddlewareError {
  let body: string | undefined;
  let cause: unknown;
  try {
    body = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  if (body !== undefined) return body;
  const message = `a value of type ${typeof value} has no JSON form`;
  return new MiddlewareError("ERR_MIDDLEWARE_JSON", message, cause === undefined ? {} : { cause });
}
