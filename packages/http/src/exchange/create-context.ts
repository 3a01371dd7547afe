import { createContextKey, type ContextKey } from "../context-key.ts";
import type { Context, FinishListener, FinishReport } from "../context.ts";
import { HttpUsageError } from "../errors.ts";
import { guardedReport } from "./report-error.ts";

/**
 * What a runtime knows about an exchange when it makes its context.
 *
 * `peer`, `ip` and `signal` are read when somebody first asks for them, so an object with getters computes them
 * only when they are needed.
 */
export interface ContextInit {
  /** Address of the other end of the connection. Default: none. */
  readonly peer?: string | undefined;
  /** Address of the client. Default: `peer`. */
  readonly ip?: string | undefined;
  /** Identifier of the exchange. Default: none. */
  readonly requestId?: string | undefined;
  /** Start, in milliseconds of `performance.now()`. Default: now. */
  readonly startedAt?: number | undefined;
  /** Path parameters. Default: none. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Aborted when the client goes away. Default: `request.signal`. */
  readonly signal?: AbortSignal | undefined;
  /** Keeps the runtime alive until the promise settles. Default: rejections are reported, nothing else. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** Receives what a finish listener threw or a promise was rejected with. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
  /** Called when the first finish listener is added; the moment to watch the connection. Default: nothing. */
  readonly watch?: (() => void) | undefined;
}

/** How an exchange ended, as the runtime saw it; see {@link FinishReport}. */
export interface ExchangeEnd {
  /** Status that was sent. */
  readonly status: number;
  /** Bytes of body that were sent. */
  readonly bytes: number;
  /** Whether the client went away first. Default: `false`. */
  readonly aborted?: boolean | undefined;
  /** What failed. Default: nothing. */
  readonly error?: unknown;
}

/**
 * Under it a context gives what its runtime gave, which lets the runtime recognise its own exchanges, also through a
 * context of a middleware that passes `get` on.
 */
export const contextInitKey: ContextKey<ContextInit> = createContextKey("init");

/** Under it the context of a server or runtime returns the request that it was made for; that of a client nothing. */
export const receivedRequestKey: ContextKey<Request> = createContextKey("received request");

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** The one class of contexts; all fields are set in the constructor, so that all contexts have one hidden class. */
export class ExchangeContext implements Context {
  readonly startedAt: number;
  requestId: string | undefined;
  params: Readonly<Record<string, string>>;
  readonly #request: Request;
  readonly #init: ContextInit;
  #ip: string | undefined;
  #ipIsSet: boolean;
  #values: Map<ContextKey<unknown>, unknown> | undefined;
  #listeners: FinishListener[] | undefined;
  #report: FinishReport | undefined;

  constructor(request: Request, init: ContextInit) {
    this.startedAt = init.startedAt ?? performance.now();
    this.requestId = init.requestId;
    this.params = init.params ?? noParams;
    this.#request = request;
    this.#init = init;
    this.#ip = undefined;
    this.#ipIsSet = false;
    this.#values = undefined;
    this.#listeners = undefined;
    this.#report = undefined;
  }

  get peer(): string | undefined {
    return this.#init.peer;
  }

  get ip(): string | undefined {
    return this.#ipIsSet ? this.#ip : (this.#init.ip ?? this.#init.peer);
  }

  set ip(value: string | undefined) {
    this.#ip = value;
    this.#ipIsSet = true;
  }

  get signal(): AbortSignal {
    return this.#init.signal ?? this.#request.signal;
  }

  waitUntil(promise: Promise<unknown>): void {
    if (this.#init.waitUntil === undefined) {
      promise.then(undefined, (error: unknown) => this.#reportError(error));
    } else {
      this.#init.waitUntil(promise);
    }
  }

  onFinish(listener: FinishListener): void {
    if (this.#report !== undefined) {
      this.#call(listener, this.#report);
    } else if (this.#listeners === undefined) {
      this.#listeners = [listener];
      this.#init.watch?.();
    } else {
      this.#listeners.push(listener);
    }
  }

  get<T>(key: ContextKey<T>): T | undefined {
    // The type of this very key, and `set` stored under every other one a value of the key's own type.
    if (key === contextInitKey) return this.#init as T;
    if (key === receivedRequestKey) {
      return this.#init === noInit ? undefined : (this.#request as T);
    }
    return this.#values?.get(key) as T | undefined;
  }

  set<T>(key: ContextKey<T>, value: T): void {
    this.#values ??= new Map();
    this.#values.set(key, value);
  }

  /** Whether anybody waits for the end. */
  static isWatched(context: ExchangeContext): boolean {
    return context.#listeners !== undefined;
  }

  /** Ends the exchange; only the first call counts. */
  static finish(context: ExchangeContext, end: ExchangeEnd): void {
    if (context.#report !== undefined) return;
    const report: FinishReport = {
      status: end.status,
      bytes: end.bytes,
      duration: performance.now() - context.startedAt,
      aborted: end.aborted ?? false,
      ...(end.error === undefined ? {} : { error: end.error }),
    };
    context.#report = report;
    const listeners = context.#listeners;
    if (listeners === undefined) return;
    context.#listeners = undefined;
    for (const listener of listeners) context.#call(listener, report);
  }

  #call(listener: FinishListener, report: FinishReport): void {
    try {
      const result: unknown = listener(report);
      if (result instanceof Promise) result.catch((error: unknown) => this.#reportError(error));
    } catch (error) {
      this.#reportError(error);
    }
  }

  #reportError(error: unknown): void {
    guardedReport(this.#init.reportError ?? console.error)(error);
  }
}

/** Nothing is known of an exchange: no runtime began it. */
export const noInit: ContextInit = Object.freeze({});

/**
 * Makes the context of an exchange.
 *
 * Runtimes call it, and tests. {@link wrap} does so itself when its handler is called without a context. Whoever
 * made a context ends it with {@link finishContext}.
 *
 * @example
 * ```ts
 * const context = createContext(request, { peer: "192.0.2.1" });
 * const response = await handler(request, context);
 * ```
 */
export function createContext(request: Request, init: ContextInit = noInit): Context {
  return new ExchangeContext(request, init);
}

/**
 * Ends an exchange and calls its finish listeners, in order, once. For authors of runtime adapters: call it after
 * the last byte of the body was handed over, or when the exchange broke off. Only the first call counts.
 *
 * @throws HttpUsageError `ERR_HTTP_CONTEXT` when {@link createContext} did not make the context
 */
export function finishContext(context: Context, end: ExchangeEnd): void {
  if (!(context instanceof ExchangeContext)) {
    throw new HttpUsageError(
      "ERR_HTTP_CONTEXT",
      "finishContext needs a context that createContext made",
    );
  }
  ExchangeContext.finish(context, end);
}
