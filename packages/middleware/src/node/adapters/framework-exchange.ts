import type { ServerResponse } from "node:http";
import { createContext, finishContext, type Context, type ContextInit } from "@fetchwork/http";
import { messageRequest, type FrameworkRequest } from "./message-request.ts";

/**
 * One request of a framework, shared by all middlewares of ours that see it. The context is made of what Node knows;
 * nothing listens on the response before the signal or the end is requested.
 */
export class FrameworkExchange implements ContextInit {
  readonly message: FrameworkRequest;
  readonly response: ServerResponse;
  readonly context: Context;
  /** The request as Node received it. */
  readonly received: Request;
  /** The request as the last middleware passed it on. */
  request: Request;
  /** Bytes of body written so far, counted if the end is awaited. */
  bytes: number;
  /** What failed after the framework was asked. */
  error: unknown;
  isWatched: boolean;
  /** Called when the first finish listener is added, for a framework whose writes are not intercepted. */
  onWatch: (() => void) | undefined;
  #controller: AbortController | undefined;

  constructor(message: FrameworkRequest, response: ServerResponse) {
    this.message = message;
    this.response = response;
    this.received = messageRequest(message, () => this.signal);
    this.request = this.received;
    this.bytes = 0;
    this.error = undefined;
    this.isWatched = false;
    this.onWatch = undefined;
    this.#controller = undefined;
    this.context = createContext(this.received, this);
  }

  get peer(): string | undefined {
    const address = this.message.socket?.remoteAddress;
    // A socket that takes both families shows an IPv4 client as an IPv4-mapped address (RFC 4291, 2.5.5.2).
    return address?.startsWith("::ffff:") === true && address.includes(".")
      ? address.slice(7)
      : address;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const abort = (): void => {
      if (this.response.writableFinished) return;
      controller.abort(new DOMException("the client closed the connection", "AbortError"));
    };
    if (this.response.closed) abort();
    else this.response.once("close", abort);
    return controller.signal;
  }

  /** Called by the context when the first finish listener is added. */
  readonly watch = (): void => {
    this.isWatched = true;
    this.onWatch?.();
    const { response } = this;
    // A closed socket has no address, and finish listeners ask for it.
    void this.message.socket?.remoteAddress;
    const finish = (): void => {
      const isFinished = response.writableFinished;
      finishContext(this.context, {
        status: response.headersSent ? response.statusCode : this.error === undefined ? 499 : 500,
        bytes: this.bytes,
        aborted: !isFinished && this.error === undefined,
        error: this.error,
      });
    };
    if (response.closed) queueMicrotask(finish);
    else response.once("close", finish);
  };
}

// A property and not a `WeakMap`, whose entries stay until the next major garbage collection.
const exchangeKey: unique symbol = Symbol("fetchwork exchange");

interface ExchangeHolder {
  [exchangeKey]?: FrameworkExchange;
}

/** The exchange of a response of Node; the first middleware makes it. */
export function exchangeOf(
  message: FrameworkRequest,
  response: ServerResponse & ExchangeHolder,
): FrameworkExchange {
  return (response[exchangeKey] ??= new FrameworkExchange(message, response));
}

/** The exchange of a response of Node, if a middleware of ours has seen it. */
export function findExchange(
  response: ServerResponse & ExchangeHolder,
): FrameworkExchange | undefined {
  return response[exchangeKey];
}

/**
 * What a framework is told of a failure. Express goes on to the next handler when the error is nothing, null or "route",
 * and Koa sends nothing.
 */
export function errorOf(thrown: unknown): unknown {
  if (typeof thrown === "object" && thrown !== null) return thrown;
  return new Error("the middleware failed", { cause: thrown });
}
