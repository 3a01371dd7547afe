/**
 * A request that becomes the platform's `Request` only when somebody needs that one. It is a `Request` for everybody who
 * uses the interface.
 *
 * What only the platform may look at, its private state, it does not have: `fetch(request)` and `new Request(request)`
 * throw, because no object can be given that state after its construction, and constructing each request costs a quarter
 * of what a server spends on it (docs/decisions/0001-own-server.md). They take {@link nativeRequest}.
 */
export abstract class LazyRequest implements Request {
  static {
    Object.setPrototypeOf(this.prototype, Request.prototype);
    // The one of Node's own requests would look for their private state.
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
   * The platform's request, made on first use; it takes the body over. Servers that run on srvx, such as those of h3 and
   * Nitro, have it under this name too.
   */
  abstract readonly _request: Request;

  /** Where the body is read. */
  protected abstract bodySource(): Body;

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

  // What a new `Request` has by default (Fetch, 5.4).

  get cache(): RequestCache {
    return "default";
  }

  get credentials(): RequestCredentials {
    return "same-origin";
  }

  get destination(): RequestDestination {
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

  get mode(): RequestMode {
    return "cors";
  }

  get redirect(): RequestRedirect {
    return "follow";
  }

  get referrer(): string {
    return "about:client";
  }

  get referrerPolicy(): ReferrerPolicy {
    return "";
  }
}

type Inspect = (value: unknown, options: object) => string;
