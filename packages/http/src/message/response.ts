import { FastResponse } from "srvx";
import { HttpUsageError } from "../errors.ts";
import { HeaderList } from "./header-list.ts";

/** Valid parts of a response without a platform `Response`. */
export interface Draft {
  readonly text: string | null;
  readonly status: number;
  readonly statusText: string;
  /** Becomes the response's own. */
  readonly headers: HeaderList;
}

/** Head and body in the form in which srvx and our own server send them. */
export interface PreparedResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; names in lower case. */
  readonly headers: readonly string[];
  readonly body: unknown;
}

/** Headers of one's own, or fields that are never changed: name, value, name, value. */
type HeaderSource = HeaderList | readonly string[];

const noFields: readonly string[] = [];
const jsonType = ["content-type", "application/json"] as const;
const textType = ["content-type", "text/plain;charset=UTF-8"] as const;
const nullBodyStatuses: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * A response that holds its text and its headers as they are and becomes a platform `Response` only when somebody
 * reads it. Unlike srvx's own, sending leaves it whole, so it may be shared by many exchanges.
 */
class TextResponse extends FastResponse {
  readonly #text: string | null;
  readonly #status: number;
  readonly #statusText: string;
  /** Headers until somebody asks for them; never changed, so that responses may share them. */
  readonly #fields: readonly string[];
  #headers: HeaderList | undefined;
  #platform: Response | undefined;

  constructor(text: string | null, status: number, statusText: string, headers: HeaderSource) {
    super(null);
    const isOwn = headers instanceof HeaderList;
    this.#text = text;
    this.#status = status;
    this.#statusText = statusText;
    this.#fields = isOwn ? noFields : headers;
    this.#headers = isOwn ? headers : undefined;
    this.#platform = undefined;
  }

  override get status(): number {
    return this.#status;
  }

  override get statusText(): string {
    return this.#statusText;
  }

  override get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  override get headers(): Headers {
    return this.#platform?.headers ?? (this.#headers ??= HeaderList.of(this.#fields));
  }

  /** The platform's `Response`; srvx's class sends everything that is not overridden here to it. */
  get _response(): Response {
    this.#platform ??= new globalThis.Response(this.#text, {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.headers,
    });
    return this.#platform;
  }

  /** What srvx's sender reads. */
  _toNodeResponse(): PreparedResponse {
    const prepared = TextResponse.prepare(this);
    if (typeof prepared.body !== "string") return prepared;
    const length = String(new TextEncoder().encode(prepared.body).byteLength);
    return { ...prepared, headers: [...prepared.headers, "content-length", length] };
  }

  /** What our own sender reads; it adds the length itself. */
  static prepare(response: TextResponse): PreparedResponse {
    if (response.#platform?.bodyUsed === true) {
      throw new HttpUsageError("ERR_HTTP_RESPONSE", "the body of the Response is used");
    }
    const fields = TextResponse.#currentFields(response);
    return {
      status: response.#status,
      statusText: response.#statusText,
      headers: fields.includes(lengthName) ? withoutLength(fields) : fields,
      body: response.#text,
    };
  }

  /** A response of its own with the same text and headers; undefined once somebody took the body. */
  static copy(response: TextResponse): Response | undefined {
    if (response.#platform?.bodyUsed === true) return undefined;
    const fields = TextResponse.#currentFields(response);
    const headers = HeaderList.of(fields);
    return new TextResponse(response.#text, response.#status, response.#statusText, headers);
  }

  static #currentFields(response: TextResponse): readonly string[] {
    const platform = response.#platform;
    if (platform !== undefined) return HeaderList.fieldsOf(HeaderList.from(platform.headers));
    const list = response.#headers;
    return list === undefined ? response.#fields : HeaderList.fieldsOf(list);
  }
}

const lengthName = "content-length";

function withoutLength(fields: readonly string[]): string[] {
  return fields.filter((_, index) => fields[index - (index % 2)] !== lengthName);
}

// srvx has a class of its own on Node only; elsewhere the platform's `Response` is the fast one.
const isLazy = "_toNodeResponse" in FastResponse.prototype;

/**
 * Answers with a value as JSON.
 *
 * Sets `Content-Type: application/json`, if `init` has none. On Node it goes out with `Content-Length` and without
 * the platform's `Response`, which is what makes it cheap; it is a `Response` all the same when it is read.
 *
 * @throws HttpUsageError `ERR_HTTP_JSON` when the value has no JSON form (`undefined`, a function, a cycle)
 * @throws HttpUsageError `ERR_HTTP_STATUS` when the status is not 200 to 599, or allows no body
 */
export function json(value: unknown, init?: ResponseInit): Response {
  return makeResponse(stringify(value), jsonType, init);
}

/**
 * Answers with text.
 *
 * Sets `Content-Type: text/plain;charset=UTF-8`, if `init` has none. As cheap as {@link json}.
 *
 * @throws HttpUsageError `ERR_HTTP_STATUS` when the status is not 200 to 599, or allows no body
 */
export function text(body: string, init?: ResponseInit): Response {
  return makeResponse(body, textType, init);
}

/**
 * Answers without a body.
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

/** Makes a response of parts that are known to be valid. */
export function makeTextResponse(draft: Draft): Response {
  const { text, status, statusText, headers } = draft;
  if (isLazy) return new TextResponse(text, status, statusText, headers);
  // As a list: Deno looks inside what is a `Headers` by its prototype, and finds nothing there.
  return new Response(text, { status, statusText, headers: [...headers] });
}

/** Copies a response that {@link json}, {@link text} or {@link empty} made; undefined for all others. */
export function copyTextResponse(response: Response): Response | undefined {
  return response instanceof TextResponse ? TextResponse.copy(response) : undefined;
}

/**
 * Whether a response was made by {@link json}, {@link text} or {@link empty}: it holds its body whole, may be shared by
 * exchanges, and nothing needs to be read to send it.
 */
export function isWhole(response: Response): boolean {
  return response instanceof TextResponse;
}

/** Head and text of a response that {@link json}, {@link text} or {@link empty} made; undefined for all others. */
export function prepareTextResponse(response: Response): PreparedResponse | undefined {
  return response instanceof TextResponse ? TextResponse.prepare(response) : undefined;
}

/** Whether the status allows no body (Fetch, 2.2.3). */
export function isNullBodyStatus(status: number): boolean {
  return nullBodyStatuses.has(status);
}

function makeResponse(
  body: string,
  type: readonly [string, string],
  init: ResponseInit | undefined,
): Response {
  const status = init?.status ?? 200;
  if (init !== undefined) {
    checkStatus(status);
    if (nullBodyStatuses.has(status)) {
      throw new HttpUsageError(
        "ERR_HTTP_STATUS",
        `a response of status ${status} has no body; use empty(${status})`,
      );
    }
  }
  const statusText = init?.statusText ?? "";
  if (isLazy && init?.headers === undefined) {
    return new TextResponse(body, status, statusText, type);
  }
  const headers = HeaderList.from(init?.headers);
  if (!headers.has("content-type")) headers.set(...type);
  return makeTextResponse({ text: body, status, statusText, headers });
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return;
  throw new HttpUsageError(
    "ERR_HTTP_STATUS",
    `status is ${String(status)}, expected an integer from 200 to 599`,
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
    throw new HttpUsageError("ERR_HTTP_JSON", `a value of type ${typeof value} has no JSON form`);
  }
  return body;
}
