import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Stream } from "node:http2";
import type { BodyShare } from "@fetchwork/kit";
import { HeaderList } from "../../message/header-list.ts";
import { LazyRequest, type BodySource } from "../../message/lazy-request.ts";
import { limitWholeReads } from "../../message/read-whole.ts";
import type { RequestHead } from "./request-head.ts";
import { isClientGone, RequestBody, type ReceiveOptions } from "./request-body.ts";

/** A request as Node has received it. URL, headers, body and signal are created on demand. */
export class ReceivedRequest extends LazyRequest {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #head: RequestHead;
  readonly #options: ReceiveOptions;
  #url: string | undefined;
  #headers: HeaderList | undefined;
  #signal: AbortSignal | undefined;
  #bodySource: BodySource | undefined;
  #share: BodyShare | undefined;
  #native: Request | undefined;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    head: RequestHead,
    options: ReceiveOptions,
  ) {
    super();
    this.#message = message;
    this.#response = response;
    this.#head = head;
    this.#options = options;
    // Created now where a body parser may have read the body before.
    this.#bodySource = head.hasBody && options.isBehindOthers ? this.#openBody() : undefined;
  }

  get url(): string {
    this.#url ??= urlOf(this.#message, this.#head);
    return this.#url;
  }

  get method(): string {
    return this.#message.method ?? "GET";
  }

  get headers(): Headers {
    this.#headers ??= this.#readHeaders();
    return this.#headers;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#message, this.#response);
    return this.#signal;
  }

  get _request(): Request {
    if (this.#native !== undefined) return this.#native;
    const { method, headers, signal } = this;
    const body = this.bodyUsed ? null : this.body;
    const init: RequestInit & { duplex?: "half" } = { method, headers: [...headers], signal, body };
    if (body !== null) init.duplex = "half";
    this.#native = new Request(this.url, init);
    if (body !== null) {
      limitWholeReads(this.#native, body);
      this.#bodySource = this.#native;
    }
    return this.#native;
  }

  /** The handler has responded, so what it has read of the body counts no longer. */
  releaseBody(): void {
    this.#share?.close();
  }

  protected override bodySource(): BodySource {
    this.#bodySource ??= this.#openBody();
    return this.#bodySource;
  }

  #readHeaders(): HeaderList {
    const { url = "/", rawHeaders } = this.#message;
    const headers = this.#options.isBehindOthers
      ? HeaderList.from(pairsOf(this.#message))
      : HeaderList.ofReceived(rawHeaders);
    // RFC 9112, 3.2.2: the host of a whole URL replaces that of `Host`.
    if (!url.startsWith("/")) headers.set("host", new URL(url).host);
    return headers;
  }

  #openBody(): BodySource {
    const { method } = this;
    if (method === "GET" || method === "HEAD") return new Response(null);
    const contentType = (): string | null => this.headers.get("content-type");
    return new RequestBody(this.#message, contentType, this.#openShare(), this.#options);
  }

  #openShare(): BodyShare {
    const { bodyBudget, maxBodySize } = this.#options;
    const share = bodyBudget.open(maxBodySize);
    this.#share = share;
    // Nothing would close the share of a body that is read after the response.
    if (this.#response.writableEnded || isClientGone(this.#message)) share.close();
    else this.#response.once("close", () => share.close());
    return share;
  }
}

/** Targets that the URL parser leaves as they are: no encoded character, no dot segment. */
const plainTarget = /^(?!.*\/(?:\.|%2e))\/[\w!$&()*+,\-./:;=@~%?[\]]*$/i;

function urlOf(message: IncomingMessage, head: RequestHead): string {
  const { socket } = message;
  const target = message.url ?? "/";
  const protocol = "encrypted" in socket && socket.encrypted === true ? "https:" : "http:";
  const host = head.host === "" ? localHost(message) : head.host;
  if (plainTarget.test(target)) {
    const url = `${protocol}//${host}${target}`;
    return head.hostKind === "plain" ? url : new URL(url).href;
  }
  if (target.startsWith("/")) return new URL(`${protocol}//${host}${target}`).href;
  const { host: targetHost, pathname, search } = new URL(target);
  return new URL(`${protocol}//${targetHost}${pathname}${search}`).href;
}

/** The host of an HTTP/1.0 request, which may have none. */
function localHost({ socket }: IncomingMessage): string {
  const { localAddress = "localhost", localFamily, localPort = 80 } = socket;
  return `${localFamily === "IPv6" ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** The headers as code in front of us has left them. */
function pairsOf({ headers }: IncomingMessage): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name.startsWith(":")
      ? []
      : [value].flat().map((one): [string, string] => [name, one]),
  );
}

/** Makes a signal that is aborted when the client goes away before it has the whole response. */
function signalOf(message: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = (): void => {
    if (message.errored) controller.abort(message.errored);
    else if (!response.writableEnded) controller.abort();
  };
  const closing = http2StreamOf(response) ?? response;
  closing.once("close", onClose);
  if (closing.destroyed || isClientGone(message)) onClose();
  return controller.signal;
}

/** A response of HTTP/2 has a stream; it lacks much, and may not emit "close" after a HEAD. */
export function http2StreamOf(response: ServerResponse): Http2Stream | undefined {
  if (response.req.httpVersionMajor !== 2 || !("stream" in response)) return undefined;
  return response.stream as Http2Stream;
}
