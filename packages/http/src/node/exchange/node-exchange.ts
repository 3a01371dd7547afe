import { constants, type Http2Stream } from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ExchangeContext, type ContextInit } from "../../exchange/create-context.ts";
import type { ReceiveOptions } from "../request/request-body.ts";
import type { RequestLimits } from "../request/request-head.ts";
import { boundUnreadBody } from "../request/unread-body.ts";

/** What the exchanges of one server, or of one listener, have in common. */
export interface NodeRuntime extends ReceiveOptions, RequestLimits {
  readonly reportError: (error: unknown) => void;
  readonly waitUntil: (promise: Promise<unknown>) => void;
  /** Whether connections are to be closed after their answer. */
  isClosing: boolean;
}

/**
 * Node's side of one exchange, and what its context is made of. Everything is computed when it is asked for;
 * nothing listens on the response before somebody wants to know its end.
 */
export class NodeExchange implements ContextInit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runtime: NodeRuntime;
  readonly web: Request;
  readonly context: ExchangeContext;
  readonly hasBody: boolean;
  /** Bytes of body that were written. */
  bytes: number;
  /** What failed, once something has. */
  error: unknown;
  /** Whether somebody has Node's own request, and may read it in ways that cannot be seen. */
  isShown: boolean;
  #isFinished: boolean;

  constructor(
    runtime: NodeRuntime,
    messages: { readonly request: IncomingMessage; readonly response: ServerResponse },
    web: Request,
    hasBody: boolean,
  ) {
    this.request = messages.request;
    this.response = messages.response;
    this.runtime = runtime;
    this.web = web;
    this.hasBody = hasBody;
    this.bytes = 0;
    this.error = undefined;
    this.isShown = false;
    this.#isFinished = false;
    this.context = new ExchangeContext(web, this);
  }

  get peer(): string | undefined {
    const address = this.request.socket?.remoteAddress;
    // A socket that takes both families shows an IPv4 client as an IPv4-mapped address (RFC 4291, 2.5.5.2).
    return address?.startsWith("::ffff:") === true && address.includes(".")
      ? address.slice(7)
      : address;
  }

  get signal(): AbortSignal {
    return this.web.signal;
  }

  get waitUntil(): (promise: Promise<unknown>) => void {
    const { request, runtime } = this;
    if (!this.hasBody) return runtime.waitUntil;
    return (promise) =>
      runtime.waitUntil(
        Promise.resolve(promise).catch((error: unknown) => {
          // A client that leaves before its body is whole is nobody's failure.
          if (!isBrokenOff(request, error)) throw error;
        }),
      );
  }

  get reportError(): (error: unknown) => void {
    return this.runtime.reportError;
  }

  /** Whether nothing that is written reaches the client any more. */
  get isGone(): boolean {
    const { response } = this;
    if (response.writableEnded || response.destroyed) return true;
    return this.request.httpVersionMajor === 2 && isClosed(response);
  }

  /** Cuts the exchange off, so that the client cannot take what it has for the whole. */
  cut(): void {
    const { response } = this;
    const stream = http2StreamOf(response);
    if (stream === undefined) response.destroy();
    else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** Sees to it that what is left of the request's body does not hold the connection up after the answer. */
  leaveBody(): void {
    const { request, response } = this;
    if (!this.hasBody || request.complete) return;
    // Node discards what nobody asked for.
    const isAsked = request.readableFlowing !== null && request.httpVersionMajor !== 2;
    response.once("finish", () => {
      if (isAsked && !this.isShown) this.#discardUnread();
      boundUnreadBody(request);
    });
  }

  /** A stream that was asked for and has no reader fills, and then stops the connection. */
  #discardUnread(): void {
    const { body } = this.web;
    if (body?.locked === false) body.cancel().catch(() => undefined);
  }

  /** Called by the context when somebody first wants to know the end. */
  watch(): void {
    const { response } = this;
    // Read while it is there: a closed socket has no address, and listeners ask for it at the end.
    void this.request.socket?.remoteAddress;
    if (isClosed(response)) {
      this.#isFinished = response.writableFinished;
      queueMicrotask(() => this.#finish());
      return;
    }
    response.once("finish", () => {
      this.#isFinished = true;
    });
    response.once("close", () => this.#finish());
  }

  #finish(): void {
    const { error, bytes, response } = this;
    const stream = http2StreamOf(response);
    // HTTP/2's response says "finish" also when it was reset.
    const isComplete =
      stream === undefined ? this.#isFinished : response.writableEnded && stream.rstCode === 0;
    ExchangeContext.finish(this.context, {
      status: response.headersSent ? response.statusCode : error === undefined ? 499 : 500,
      bytes,
      aborted: !isComplete && error === undefined,
      error,
    });
  }
}

/** Whether the error, or what caused it, is that of a body whose sender has gone. */
function isBrokenOff({ complete, errored }: IncomingMessage, error: unknown): boolean {
  if (complete || errored === null) return false;
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner === errored) return true;
  }
  return false;
}

function isClosed(response: ServerResponse): boolean {
  const stream = http2StreamOf(response);
  return stream === undefined ? response.closed : stream.destroyed;
}

/** HTTP/2's response has a stream, and lacks much of what HTTP/1's has. */
function http2StreamOf(response: ServerResponse): Http2Stream | undefined {
  if (response.req.httpVersionMajor !== 2 || !("stream" in response)) return undefined;
  return response.stream as Http2Stream;
}
