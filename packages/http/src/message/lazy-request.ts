/** Readers of a body: the platform's `Body`, whose name only the types of browsers have. */
export interface BodySource extends Pick<
  Request,
  "body" | "bodyUsed" | "arrayBuffer" | "blob" | "formData" | "json" | "text"
> {
  /** Declared here because the types of Node 22 lack it. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * A request that becomes the platform's `Request` only when that is needed. It has the whole
 * interface.
 *
 * It does not have the platform's private state, for which `fetch(request)` and
 * `new Request(request)` look, so they throw. Only the constructor sets that state. To construct
 * each received request costs a server 60 % more CPU time (docs/decisions/0035-own-server.md).
 * {@link nativeRequest} returns what they accept.
 */
export abstract class LazyRequest implements Request {
  static {
    Object.setPrototypeOf(this.prototype, Request.prototype);
    // The inherited one looks for the private state too.
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), {
      value(this: LazyRequest, _depth: number, options: object, inspect: Inspect): string {
        const { method, url, headers } = this;
        return `Request ${inspect({ method, url, headers }, options)}`;
      },
    });
  }

  abstract readonly url: string;
  abstract readonly method: string;
  abstract readonly headers: Headers;
  abstract readonly signal: AbortSignal;

  /**
   * The platform's request, made on first use; it takes the body over. The requests of srvx, on
   * which h3 and Nitro run, use the same name, so that {@link nativeRequest} works for them too.
   */
  abstract readonly _request: Request;

  /** Where the body is read. */
  protected abstract bodySource(): BodySource;

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.bodySource().body;
  }

  get bodyUsed(): boolean {
    return this.bodySource().bodyUsed;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.bodySource().arrayBuffer();
  }

  blob(): Promise<Blob> {
    return this.bodySource().blob();
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.bodySource().bytes();
  }

  formData(): Promise<FormData> {
    return this.bodySource().formData();
  }

  json(): Promise<unknown> {
    return this.bodySource().json();
  }

  text(): Promise<string> {
    return this.bodySource().text();
  }

  clone(): Request {
    return this._request.clone();
  }

  // Defaults of a new `Request` (Fetch, 5.4).

  get cache(): Request["cache"] {
    return "default";
  }

  get credentials(): Request["credentials"] {
    return "same-origin";
  }

  get destination(): Request["destination"] {
    return "";
  }

  get duplex(): "half" {
    return "half";
  }

  get integrity(): string {
    return "";
  }

  get isHistoryNavigation(): boolean {
    return false;
  }

  get isReloadNavigation(): boolean {
    return false;
  }

  get keepalive(): boolean {
    return false;
  }

  get mode(): Request["mode"] {
    return "cors";
  }

  get redirect(): Request["redirect"] {
    return "follow";
  }

  get referrer(): string {
    return "about:client";
  }

  get referrerPolicy(): Request["referrerPolicy"] {
    return "";
  }
}

type Inspect = (value: unknown, options: object) => string;
