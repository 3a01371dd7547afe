import type { BodyHolder, ResponseBody } from "@fetchwork/http";

/** The body of a response that a framework has begun to write. */
export interface CapturedBody {
  /** The whole body when it is known; undefined when more is to come. */
  readonly whole: () => string | Uint8Array<ArrayBuffer> | null | undefined;
  /** Makes a stream of the body; called once. */
  readonly open: () => ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

/**
 * What a framework is about to send, as `Response`. Its headers are those of Node's response, and its body becomes a stream
 * only when a middleware asks for it. If it is returned unchanged, the framework's own writes are sent unchanged.
 */
export class CapturedResponse implements BodyHolder {
  static {
    Object.setPrototypeOf(this.prototype, Response.prototype);
  }

  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly #source: CapturedBody;
  #holder: Response | undefined;
  #isTaken: boolean;

  constructor(
    head: { readonly status: number; readonly statusText: string; readonly headers: Headers },
    source: CapturedBody,
  ) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.headers = head.headers;
    this.#source = source;
    this.#holder = undefined;
    this.#isTaken = false;
  }

  /** Whether the body, or a stream of it, was taken. */
  static isTaken(response: CapturedResponse): boolean {
    return response.#isTaken || response.#holder !== undefined;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
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
    return this.#bodyHolder().body;
  }

  get bodyUsed(): boolean {
    return this.#holder?.bodyUsed ?? false;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bodyHolder().arrayBuffer();
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bodyHolder().bytes();
  }

  json(): Promise<unknown> {
    return this.#bodyHolder().json();
  }

  text(): Promise<string> {
    return this.#bodyHolder().text();
  }

  blob(): Promise<Blob> {
    return this.#bodyHolder().blob();
  }

  formData(): Promise<FormData> {
    return this.#bodyHolder().formData();
  }

  clone(): Response {
    const { status, statusText } = this;
    const copy = this.#bodyHolder().clone();
    return new Response(copy.body, { status, statusText, headers: new Headers(this.headers) });
  }

  /** The body for {@link takeResponse}: whole where it is known. */
  takeBody(): ResponseBody {
    if (this.#holder !== undefined) return this.#holder.body;
    this.#isTaken = true;
    const whole = this.#source.whole();
    return whole === undefined ? this.body : whole;
  }

  #bodyHolder(): Response {
    if (this.#holder !== undefined) return this.#holder;
    const type = this.headers.get("content-type");
    const init = type === null ? {} : { headers: { "content-type": type } };
    const whole = this.#source.whole();
    this.#holder = new Response(whole === undefined ? this.#source.open() : whole, init);
    return this.#holder;
  }
}
