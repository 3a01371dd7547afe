import { OAuth2UsageError, optionError } from "../errors.ts";
import { encodePairs, toPairs, type Pair, type Params } from "./form.ts";

/** Body of a request to a resource. */
export type ResourceRequestBody =
  string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | Blob | object;

/** Body of a request as it is sent; only a stream cannot be sent twice. */
export type SentBody = NonNullable<RequestInit["body"]> | AsyncIterable<Uint8Array>;

/** How an object is sent when the `Content-Type` does not say. */
export type BodyEncoding = "url_encoded" | "json";

/** Input of {@link encodeBody}. */
export interface BodyInput {
  readonly method: string;
  /** Gets a `Content-Type` when it has none. */
  readonly headers: Headers;
  readonly body: ResourceRequestBody | undefined;
  readonly encoding: BodyEncoding;
  /** Field that is added to the form. */
  readonly field: Pair | undefined;
}

const formType = "application/x-www-form-urlencoded";

/**
 * Makes the bytes or text of a body.
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION` when a field is to be added to a body that is not a
 * form, or a GET would have a body
 */
export async function encodeBody(
  input: BodyInput,
): Promise<string | Uint8Array<ArrayBuffer> | undefined> {
  const { method, headers, body, field } = input;
  const bodyless = method === "GET" || method === "HEAD";
  if (bodyless && (body !== undefined || field !== undefined)) {
    throw new OAuth2UsageError(
      "ERR_OAUTH_OPTION",
      field === undefined
        ? `a ${method} request has no body`
        : `mode body does not fit a ${method} request (RFC 6750, 2.2)`,
    );
  }
  if (field !== undefined) return formWith(input, field);
  if (body === undefined) return emptyBody(method, headers);
  if (typeof body === "string") return form(headers, [], body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof URLSearchParams) return form(headers, [...body]);
  if (body instanceof FormData || body instanceof Blob) return whole(headers, body);
  return encodeObject(input, body);
}

function emptyBody(method: string, headers: Headers): string | undefined {
  if (method !== "POST" && method !== "PUT" && method !== "PATCH") return undefined;
  return form(headers, []);
}

function encodeObject({ headers, encoding }: BodyInput, body: object): string {
  if (isStream(body)) {
    throw optionError("body", "a stream", "what can be sent twice; authorizedFetch sends streams");
  }
  const type = headers.get("content-type") ?? (encoding === "json" ? "application/json" : formType);
  if (/^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(type)) {
    headers.set("content-type", type);
    return JSON.stringify(body);
  }
  return form(headers, toPairs(toParams(body)));
}

function formWith({ headers, body }: BodyInput, field: Pair): string {
  const type = headers.get("content-type");
  const isOther =
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer ||
    body instanceof Blob ||
    body instanceof FormData ||
    isStream(body);
  if (isOther || (type !== null && !type.toLowerCase().startsWith(formType))) {
    const expected = "header or query for a body that is not a form (RFC 6750, 2.2)";
    throw optionError("mode", "body", expected);
  }
  if (body === undefined) return form(headers, [field]);
  if (typeof body === "string") return form(headers, [field], body);
  if (body instanceof URLSearchParams) return form(headers, [...body, field]);
  return form(headers, [...toPairs(toParams(body)), field]);
}

function form(headers: Headers, pairs: readonly Pair[], before = ""): string {
  if (!headers.has("content-type")) headers.set("content-type", formType);
  const encoded = encodePairs(pairs);
  return [before, encoded].filter((part) => part !== "").join("&");
}

async function whole(headers: Headers, body: FormData | Blob): Promise<Uint8Array<ArrayBuffer>> {
  const response = new Response(body);
  const type = response.headers.get("content-type");
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  return new Uint8Array(await response.arrayBuffer());
}

function toParams(body: object): Params {
  return Object.fromEntries(Object.entries(body));
}

/** Whether a body can be read only once. */
export function isStream(
  body: unknown,
): body is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> {
  if (typeof body !== "object" || body === null) return false;
  return body instanceof ReadableStream || Symbol.asyncIterator in body;
}
