import { OAuth2UsageError, optionError } from "../errors.ts";
import { encodePairs, toPairs, type Pair } from "./form.ts";

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
  if (field !== undefined) checkForm(input);
  const fields = field === undefined ? [] : [field];
  if (body === undefined) {
    const isEmpty = field === undefined && !["POST", "PUT", "PATCH"].includes(method);
    return isEmpty ? undefined : form(headers, fields);
  }
  if (typeof body === "string") return form(headers, fields, body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof URLSearchParams) return form(headers, [...body, ...fields]);
  if (body instanceof FormData || body instanceof Blob) return whole(headers, body);
  return encodeObject(input, body, fields);
}

function encodeObject(
  { headers, encoding }: BodyInput,
  body: object,
  fields: readonly Pair[],
): string {
  if (isStream(body)) {
    throw optionError("body", "a stream", "what can be sent twice; authorizedFetch sends streams");
  }
  const isJson = encoding === "json" && fields.length === 0;
  const type = headers.get("content-type") ?? (isJson ? "application/json" : formType);
  if (/^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(type)) {
    headers.set("content-type", type);
    return JSON.stringify(body);
  }
  return form(headers, [...toPairs(Object.fromEntries(Object.entries(body))), ...fields]);
}

/** A field can be added to a form only. */
function checkForm({ headers, body }: BodyInput): void {
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

/** Whether a body can be read only once. */
export function isStream(
  body: unknown,
): body is ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> {
  if (typeof body !== "object" || body === null) return false;
  return body instanceof ReadableStream || Symbol.asyncIterator in body;
}
