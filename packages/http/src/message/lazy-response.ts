import { HttpUsageError } from "../errors.ts";
import { HeaderList } from "./header-list.ts";

/** What a response can have for a body. */
export type ResponseBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/** Head and body as a server on Node sends them. */
export interface PreparedResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; names in lower case. */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
}

/**
 * Whether a response may stay without the platform's `Response`. On Node our own server sends it. Other runtimes send only
 * their own class, and are fast with it.
 */
export const isLazy: boolean =
  typeof navigator === "object" && navigator.userAgent.startsWith("Node.js/");

/**
 * A response that holds its parts as they are and becomes the platform's `Response` only when it is read. It costs a tenth
 * of that, and a whole body is sent with its length.
 */
export class LazyResponse implements Response {
  static {
    Object.setPrototypeOf(this.prototype, Response.prototype);
  }

  readonly #body: ResponseBody;
  readonly #status: number;
  readonly #statusText: string;
  /** Headers before the first access to `headers`; never changed, so that responses may share them. */
  readonly #fields: readonly string[];
  #headers: Headers | undefined;
  #platform: Response | undefined;

  /** @param headers - Headers of this response alone, or fields that are never changed: name, value, name, value. */
  constructor(
    body: ResponseBody,
    status: number,
    statusText: string,
    headers: Headers | readonly string[],
  ) {
    const isOwn = headers instanceof Headers;
    this.#body = body;
    this.#status = status;
    this.#statusText = statusText;
    this.#fields = isOwn ? noFields : headers;
    this.#headers = isOwn ? headers : undefined;
    this.#platform = undefined;
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

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.#response().blob();
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#response().bytes();
  }

  clone(): Response {
    return this.#response().clone();
  }

  formData(): Promise<FormData> {
    return this.#response().formData();
  }

  json(): Promise<unknown> {
    return this.#response().json();
  }

  text(): Promise<string> {
    return this.#response().text();
  }

  #response(): Response {
    // The platform takes any stream of bytes; the types differ about where these may be.
    this.#platform ??= new Response(this.#body as BodyInit | null, {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.headers,
    });
    return this.#platform;
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
      headers: LazyResponse.fieldsOf(response),
      // After `clone()` the platform has another stream for the body.
      body: isStream && platform !== undefined ? platform.body : response.#body,
    };
  }

  /** The header fields as they are now: name, value, name, value. */
  static fieldsOf(response: LazyResponse): readonly string[] {
    const headers = response.#platform?.headers ?? response.#headers;
    return headers === undefined ? response.#fields : HeaderList.fieldsOf(headers);
  }
}

const noFields: readonly string[] = [];
