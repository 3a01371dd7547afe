import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { MiddlewareError } from "../../errors.ts";
import { messageHeaders } from "./message-headers.ts";

/** A request of Node, with what Express adds to it. */
export type FrameworkRequest = IncomingMessage & { readonly originalUrl?: string | undefined };

/**
 * A request of Node as `Request`. Everything is read from the message when it is asked for; the body becomes a stream when
 * it is opened.
 */
class MessageRequest implements Request {
  static {
    Object.setPrototypeOf(this.prototype, Request.prototype);
  }

  readonly #message: FrameworkRequest;
  readonly #openSignal: () => AbortSignal;
  readonly headers: Headers;
  readonly method: string;
  #url: string | undefined;
  #holder: Response | undefined;
  #native: Request | undefined;

  constructor(message: FrameworkRequest, openSignal: () => AbortSignal) {
    this.#message = message;
    this.#openSignal = openSignal;
    this.method = message.method?.toUpperCase() ?? "GET";
    this.headers = messageHeaders({
      // Node's object inherits from `Object.prototype`.
      read: (name) => (Object.hasOwn(message.headers, name) ? message.headers[name] : undefined),
      write: (name, value) => {
        message.headers[name] = value;
      },
      remove: (name) => {
        Reflect.deleteProperty(message.headers, name);
      },
      names: () => Object.keys(message.headers),
    });
    this.#url = undefined;
    this.#holder = undefined;
    this.#native = undefined;
  }

  get url(): string {
    return (this.#url ??= urlOf(this.#message));
  }

  get signal(): AbortSignal {
    return this.#openSignal();
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#bodyHolder().body;
  }

  get bodyUsed(): boolean {
    return this.#holder?.bodyUsed ?? false;
  }

  get cache(): RequestCache {
    return "default";
  }

  get credentials(): RequestCredentials {
    return "same-origin";
  }

  get destination(): RequestDestination {
    return "";
  }

  get integrity(): string {
    return "";
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

  get duplex(): "half" {
    return "half";
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

  clone(): Request {
    return this._request.clone();
  }

  /** The platform's request, under the name by which `nativeRequest` finds it. */
  get _request(): Request {
    if (this.#native !== undefined) return this.#native;
    const { method, signal, body } = this;
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: new Headers(this.headers),
      signal,
      body,
    };
    if (body !== null) init.duplex = "half";
    this.#native = new Request(this.url, init);
    return this.#native;
  }

  /** Whether the body was opened. */
  static isOpened(request: Request): boolean {
    return request instanceof MessageRequest && request.#holder !== undefined;
  }

  /** A `Response` is the platform's converter of bodies. */
  #bodyHolder(): Response {
    if (this.#holder !== undefined) return this.#holder;
    const type = this.headers.get("content-type");
    // Node's type of streams differs from the platform's.
    const body = this.#hasBody() ? (openBody(this.#message) as BodyInit) : null;
    this.#holder = new Response(body, type === null ? {} : { headers: { "content-type": type } });
    return this.#holder;
  }

  #hasBody(): boolean {
    if (this.method === "GET" || this.method === "HEAD") return false;
    const { headers, httpVersionMajor } = this.#message;
    if (headers["transfer-encoding"] !== undefined) return true;
    if (headers["content-length"] !== undefined) return headers["content-length"] !== "0";
    return httpVersionMajor === 2 && !this.#message.readableEnded;
  }
}

/** Makes a request of a message; `openSignal` makes its signal on first use. */
export function messageRequest(message: FrameworkRequest, openSignal: () => AbortSignal): Request {
  return new MessageRequest(message, openSignal);
}

/** Whether the body of a request was opened that {@link messageRequest} made. */
export function isBodyOpened(request: Request): boolean {
  return MessageRequest.isOpened(request);
}

function openBody(message: IncomingMessage): unknown {
  if (!message.readableDidRead) return Readable.toWeb(message);
  return new ReadableStream(
    {
      pull(controller) {
        controller.error(
          new MiddlewareError(
            "ERR_MIDDLEWARE_BODY_USED",
            "the body was already read, for example by express.json(); use the middleware before the parser",
          ),
        );
      },
    },
    { highWaterMark: 0 },
  );
}

/** The whole URL: under a mount path of Express, `url` has only the rest of the path. */
function urlOf(message: FrameworkRequest): string {
  const { headers } = message;
  const scheme = "encrypted" in message.socket && message.socket.encrypted ? "https" : "http";
  const host = headers.host ?? String(headers[":authority"] ?? "localhost");
  const target = message.originalUrl ?? message.url ?? "/";
  const path = target.startsWith("/") ? target : pathOf(target);
  // The parser must not take anything of the path for a host, and a `Host` that is none must not fail the request.
  const url = URL.parse(`${scheme}://${host}`) ?? new URL(`${scheme}://localhost`);
  return new URL(url.origin + path).href;
}

/** The path of a request target that does not begin with one: an absolute URL, or `*` (RFC 9112, 3.2). */
function pathOf(target: string): string {
  const url = URL.parse(target);
  return url === null ? "/*" : url.pathname + url.search;
}
