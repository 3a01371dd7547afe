import { constants } from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { ExchangeContext, type ContextInit } from "../../exchange/create-context.ts";
import type { ReceiveOptions } from "../request/request-body.ts";
import { http2StreamOf, ReceivedRequest } from "../request/received-request.ts";
import type { RequestHead, RequestLimits } from "../request/request-head.ts";
import { lingerAfterResponse } from "../request/linger.ts";
import type { PendingPromises } from "./pending-promises.ts";
import { closeUnreadStream, isTooLongToDiscard, limitUnreadBody } from "../request/unread-body.ts";

/** State that all exchanges of one server, or of one listener, share. */
export interface NodeRuntime extends ReceiveOptions, RequestLimits {
  readonly reportError: (error: unknown) => void;
  readonly pending: PendingPromises;
  /** Whether connections close after their current response. */
  isClosing: boolean;
}

/**
 * Node's side of one exchange; its context reads from it. Everything is computed on demand, and
 * nothing listens on the response before the first finish listener is added.
 */
export class NodeExchange implements ContextInit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runtime: NodeRuntime;
  /** The request as the handler receives it. */
  readonly received: ReceivedRequest;
  readonly context: ExchangeContext;
  readonly hasBody: boolean;
  /** Bytes of the response's body that were written. */
  bytes: number = 0;
  /** The error that ended the exchange, if one did. */
  error: unknown;
  /** Whether the handler has Node's own request, and may read it without our knowledge. */
  hasExposedMessages: boolean = false;
  #isFinished = false;

  constructor(
    runtime: NodeRuntime,
    request: IncomingMessage,
    response: ServerResponse,
    head: RequestHead,
  ) {
    this.request = request;
    this.response = response;
    this.runtime = runtime;
    this.received = new ReceivedRequest(request, response, head, runtime);
    this.hasBody = head.hasBody;
    this.context = new ExchangeContext(this.received, this);
  }

  get peer(): string | undefined {
    const address = this.request.socket?.remoteAddress;
    // A socket that takes both families shows an IPv4 client as an IPv4-mapped address (RFC 4291,
    // 2.5.5.2).
    return address?.startsWith("::ffff:") === true && address.includes(".")
      ? address.slice(7)
      : address;
  }

  get signal(): AbortSignal {
    return this.received.signal;
  }

  get waitUntil(): (promise: Promise<unknown>) => void {
    const { request, runtime } = this;
    if (!this.hasBody) return runtime.pending.add;
    return (promise) =>
      runtime.pending.add(
        Promise.resolve(promise).catch((error: unknown) => {
          // A client that leaves before its body is whole is not an error of the server.
          if (!isCausedByClient(request, error)) throw error;
        }),
      );
  }

  get reportError(): (error: unknown) => void {
    return this.runtime.reportError;
  }

  /** Whether the client can no longer be reached with this response. */
  get isDisconnected(): boolean {
    const { response } = this;
    if (response.writableEnded || response.destroyed) return true;
    return this.request.httpVersionMajor === 2 && isClosed(response);
  }

  /** Breaks the exchange off, so that the client cannot take a partial response for a whole one. */
  abort(): void {
    const { request, response } = this;
    const stream = http2StreamOf(response);
    if (stream !== undefined) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    // A response of HTTP/1.0 may end with its connection. TLS has a message for that end, which is
    // not sent here.
    const { socket } = response;
    const endsWithConnection = request.httpVersion === "1.0";
    if (endsWithConnection && socket instanceof Socket && !("encrypted" in socket)) {
      socket.resetAndDestroy();
    } else {
      response.destroy();
    }
  }

  /** Discards the rest of the request body after the response, to free the connection. */
  discardUnreadBody(): void {
    const { request, response } = this;
    if (!this.hasBody || request.complete) return;
    // Node itself discards a body whose reading has not begun.
    const isBegun = request.readableFlowing !== null;
    const stream = http2StreamOf(response);
    if (stream === undefined) {
      lingerAfterResponse(request.socket);
      if (!isBegun && isTooLongToDiscard(request)) response.shouldKeepAlive = false;
    }
    // A response of HTTP/2 emits "finish" only when its stream closes.
    (stream ?? response).once("finish", () => {
      if (isBegun && !this.hasExposedMessages) this.#cancelUnreadStream();
      if (stream === undefined) limitUnreadBody(request);
      else closeUnreadStream(request, stream);
    });
  }

  /** A stream without a reader fills up, and then blocks the connection. */
  #cancelUnreadStream(): void {
    const { body } = this.received;
    if (body?.locked === false) body.cancel().catch(() => undefined);
  }

  /** Called by the context with the first finish listener. */
  watch(): void {
    const { response } = this;
    // Node remembers the address once it was read; a closed socket has none, and listeners may ask
    // for it.
    void this.request.socket?.remoteAddress;
    if (isClosed(response)) {
      this.#isFinished = response.writableFinished;
      queueMicrotask(() => this.#finish());
      return;
    }
    response.once("finish", () => {
      this.#isFinished = true;
    });
    (http2StreamOf(response) ?? response).once("close", () => this.#finish());
  }

  #finish(): void {
    const { error, bytes, response } = this;
    const stream = http2StreamOf(response);
    // A response of HTTP/2 emits "finish" even when it was reset.
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

/** Returns whether the error, or one of its causes, is that of a body whose sender has left. */
function isCausedByClient({ complete, errored }: IncomingMessage, error: unknown): boolean {
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
