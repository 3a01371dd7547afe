import { HttpUsageError } from "../errors.ts";
import { HeaderList } from "./header-list.ts";

/** Bodies that a response can have without the platform's `Response`. */
export type ResponseBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** Head and body as a server on Node sends them. */
export interface PreparedResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; names in lower case. */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/** The class of the platform, also when the global one is replaced later. */
const PlatformResponse: typeof Response = globalThis.Response;

/**
 * Whether a response may stay without the platform's `Response`. On Node our own server sends it.
 * Other runtimes send only their own class, and are fast with it.
 */
export const isLazy: boolean =
  typeof navigator === "object" && navigator.userAgent.startsWith("Node.js/");

/** Methods that read a body whole. */
export const bodyReaders = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/** Defines a method of a message or of a prototype of messages. */
export function define(target: object, name: string, value: (this: never) => unknown): void {
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

/** Parts of a response that are known to be valid. */
export class ResponseParts {
  readonly status: number;
  readonly statusText: string;
  /** Headers of this response alone, or fields that are never changed: name, value, name, value. */
  readonly headers: Headers | readonly string[];
  /** Whether exchanges may share the response: each changes a copy of its headers. */
  readonly isShared: boolean;

  constructor(
    status: number,
    statusText: string,
    headers: Headers | readonly string[],
    isShared: boolean,
  ) {
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.isShared = isShared;
  }
}

/**
 * A response that holds its parts as they are and becomes the platform's `Response` only when it is
 * read. It costs a tenth of that, and a whole body is sent with its length.
 */
export class LazyResponse implements Response {
  static {
    Object.setPrototypeOf(this.prototype, PlatformResponse.prototype);
    for (const name of [...bodyReaders, "clone"] as const) {
      define(this.prototype, name, function (this: LazyResponse) {
        return this.#response()[name]();
      });
    }
  }

  /** Where this class replaces the global one, `fetch()` still makes the platform's. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return this === LazyResponse
      ? value instanceof PlatformResponse
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

  static error(): Response {
    return PlatformResponse.error();
  }

  static json(value: unknown, init?: ResponseInit): Response {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) throw new TypeError("the value cannot be written as JSON");
    const headers = HeaderList.from(init?.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new LazyResponse(text, { ...init, headers });
  }

  static redirect(url: string | URL, status?: number): Response {
    return PlatformResponse.redirect(url, status);
  }

  declare arrayBuffer: Response["arrayBuffer"];
  declare blob: Response["blob"];
  declare bytes: () => Promise<Uint8Array<ArrayBuffer>>;
  declare clone: Response["clone"];
  declare formData: Response["formData"];
  declare json: Response["json"];
  declare text: Response["text"];

  readonly #body: ResponseBody;
  readonly #status: number;
  readonly #statusText: string;
  /** Headers before the first access to `headers`; unchanged, so that they are shared. */
  readonly #fields: readonly string[];
  #headers: Headers | undefined;
  #platform: Response | undefined;
  readonly #isShared: boolean;

  /**
   * @param body - Anything that `new Response` takes.
   * @throws RangeError for a status that is not an integer from 200 to 599
   * @throws TypeError for a body that the status does not allow, or an invalid header or status
   * text
   */
  constructor(body?: RequestInit["body"], init: ResponseInit | ResponseParts = noInit) {
    this.#platform = undefined;
    if (init instanceof ResponseParts) {
      const { headers } = init;
      const isOwn = headers instanceof Headers;
      this.#body = (body ?? null) as ResponseBody; // Of our own functions.
      this.#status = init.status;
      this.#statusText = init.statusText;
      this.#fields = isOwn ? noFields : headers;
      this.#headers = isOwn ? headers : undefined;
      this.#isShared = init.isShared;
      return;
    }
    const { status = 200, statusText = "", headers } = init;
    if (!isWhole(body) || !isPlain(status, statusText, body)) {
      // Also what throws.
      this.#platform = new PlatformResponse(body, init);
      this.#body = this.#platform.body;
      this.#status = this.#platform.status;
      this.#statusText = this.#platform.statusText;
      this.#fields = noFields;
      this.#headers = undefined;
      this.#isShared = false;
      return;
    }
    const isText = typeof body === "string";
    this.#body = isText ? body : copyOf(body);
    this.#status = status;
    this.#statusText = statusText;
    this.#isShared = true;
    if (headers === undefined) {
      this.#fields = isText ? textType : noFields;
      this.#headers = undefined;
    } else {
      const list = HeaderList.from(headers);
      if (isText && !list.has("content-type")) list.set(...textType);
      this.#fields = noFields;
      this.#headers = list;
    }
  }

  get status(): number {
    return this.#status;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  get headers(): Headers {
    return this.#platform?.headers ?? (this.#headers ??= HeaderList.of(this.#fields));
  }

  get type(): Response["type"] {
    return "default";
  }

  get url(): string {
    return "";
  }

  get redirected(): boolean {
    return false;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#body === null ? null : this.#response().body;
  }

  get bodyUsed(): boolean {
    return this.#platform?.bodyUsed === true;
  }

  #response(): Response {
    // The platform takes any stream of bytes; the types differ about where these may be.
    this.#platform ??= new PlatformResponse(this.#body as BodyInit | null, {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.headers,
    });
    return this.#platform;
  }

  /** Whether a value is of this class; `instanceof` is true for every response. */
  static is(value: object): value is LazyResponse {
    return #body in value;
  }

  /** Whether exchanges may share a response: sending leaves it whole. */
  static isShared(response: LazyResponse): boolean {
    return response.#isShared;
  }

  /** Copies a response that exchanges may share; returns undefined when its body was read. */
  static copy(response: LazyResponse): Response | undefined {
    if (!response.#isShared || response.bodyUsed) return undefined;
    const headers = HeaderList.of(LazyResponse.#fieldsOf(response));
    const { status, statusText } = response;
    const parts = new ResponseParts(status, statusText, headers, true);
    return new LazyResponse(response.#body as BodyInit | null, parts);
  }

  /**
   * Returns what a server sends.
   *
   * @throws HttpUsageError `ERR_HTTP_RESPONSE` when the body is used
   */
  static prepare(response: LazyResponse): PreparedResponse {
    const platform = response.#platform;
    if (platform?.bodyUsed === true) {
      throw new HttpUsageError("ERR_HTTP_RESPONSE", "the body of the Response is used");
    }
    const isStream = response.#body instanceof ReadableStream;
    return {
      status: response.#status,
      statusText: response.#statusText,
      headers: LazyResponse.#fieldsOf(response),
      // After `clone()` the platform has another stream for the body.
      body: isStream && platform !== undefined ? platform.body : response.#body,
    };
  }

  /** The header fields as they are now: name, value, name, value. */
  static #fieldsOf(response: LazyResponse): readonly string[] {
    const headers = response.#platform?.headers ?? response.#headers;
    return headers === undefined ? response.#fields : HeaderList.fieldsOf(headers);
  }
}

/**
 * `Response` for handlers on Node: it has the constructor and the methods of the platform's class,
 * and `instanceof Response` holds. It costs a tenth where `serve` sends it. With the option
 * `fastResponse` of `serve` it replaces the global class. On other runtimes it is the
 * platform's class.
 */
export const FastResponse: typeof Response = isLazy ? LazyResponse : PlatformResponse;

const noFields: readonly string[] = [];
const noInit: ResponseInit = {};

/** Header that the platform sets for a text (Fetch, 5.3). */
export const textType = ["content-type", "text/plain;charset=UTF-8"] as const;

type WholeBody = string | Uint8Array<ArrayBuffer> | ArrayBuffer | null | undefined;

function isWhole(body: BodyInit | null | undefined): body is WholeBody {
  return (
    typeof body === "string" ||
    body === null ||
    body === undefined ||
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer
  );
}

/** Copies bytes, which the caller may change afterwards. */
function copyOf(body: Exclude<WholeBody, string>): Uint8Array<ArrayBuffer> | null {
  if (body === null || body === undefined) return null;
  // The constructor copies the bytes of a view, but not those of a buffer.
  return new Uint8Array(body instanceof ArrayBuffer ? body.slice(0) : body);
}

function isPlain(status: number, statusText: string, body: WholeBody): boolean {
  if (!Number.isInteger(status) || status < 200 || status > 599) return false;
  if (body !== null && body !== undefined && isNullBodyStatus(status)) return false;
  return statusText === "" || /^[\t\x20-\x7e]+$/.test(statusText);
}

/** Returns whether a response of the status has no body (Fetch, 2.2.3). */
export function isNullBodyStatus(status: number): boolean {
  return status === 204 || status === 205 || status === 304 || status === 101;
}
