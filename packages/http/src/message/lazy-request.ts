import { bodyReaders, define } from "./fast-response.ts";

/** Readers of a body: the platform's `Body`, whose name only the types of browsers have. */
export interface BodySource extends Pick<
  Request,
  "body" | "bodyUsed" | "arrayBuffer" | "blob" | "formData" | "json" | "text"
> {
  /** Declared here because the types of Node 22 lack it. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Settings of a new `Request` (Fetch, 5.4). */
export const requestSettings = {
  cache: "default",
  credentials: "same-origin",
  destination: "",
  integrity: "",
  keepalive: false,
  mode: "cors",
  redirect: "follow",
  referrer: "about:client",
  referrerPolicy: "",
} as const;

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
    for (const [name, value] of Object.entries(requestSettings)) {
      Object.defineProperty(this.prototype, name, { get: () => value, configurable: true });
    }
    for (const name of bodyReaders) {
      define(this.prototype, name, function (this: LazyRequest) {
        return this.bodySource()[name]();
      });
    }
    // The inherited one looks for the private state too.
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), {
      value(this: LazyRequest, _depth: number, options: object, inspect: Inspect): string {
        const { method, url, headers } = this;
        return `Request ${inspect({ method, url, headers }, options)}`;
      },
    });
  }

  declare readonly cache: Request["cache"];
  declare readonly credentials: Request["credentials"];
  declare readonly destination: Request["destination"];
  declare readonly integrity: string;
  declare readonly keepalive: boolean;
  declare readonly mode: Request["mode"];
  declare readonly redirect: Request["redirect"];
  declare readonly referrer: string;
  declare readonly referrerPolicy: Request["referrerPolicy"];

  declare arrayBuffer: BodySource["arrayBuffer"];
  declare blob: BodySource["blob"];
  declare bytes: BodySource["bytes"];
  declare formData: BodySource["formData"];
  declare json: BodySource["json"];
  declare text: BodySource["text"];

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

  clone(): Request {
    return this._request.clone();
  }

  get duplex(): "half" {
    return "half";
  }

  get isHistoryNavigation(): boolean {
    return false;
  }

  get isReloadNavigation(): boolean {
    return false;
  }
}

type Inspect = (value: unknown, options: object) => string;
