import { createContextKey, type ContextKey } from "../context-key.ts";
import type { Context, FinishListener, FinishReport } from "../context.ts";
import { HttpUsageError } from "../errors.ts";
import { guardedReport } from "./report-error.ts";

/**
 * Knowledge of a runtime about an exchange when it creates the context.
 *
 * `peer`, `ip` and `signal` are read on demand, so an object with getters computes them only when
 * they are needed.
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
  /** Aborted when the client leaves. Default: `request.signal`. */
  readonly signal?: AbortSignal | undefined;
  /** Keeps the runtime alive until the promise settles. Default: only reports rejections. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
  /** Receives errors of finish listeners and of `waitUntil` promises. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
  /** Called at the first finish listener, to watch the connection. Default: nothing. */
  readonly watch?: (() => void) | undefined;
}

/** How an exchange ended, as the runtime reports it; see {@link FinishReport}. */
export interface ExchangeEnd {
  /** Status that was sent. */
  readonly status: number;
  /** Bytes of body that were sent. */
  readonly bytes: number;
  /** Whether the client left first. Default: `false`. */
  readonly aborted?: boolean | undefined;
  /** The error that ended it. Default: none. */
  readonly error?: unknown;
}

/**
 * Key of the runtime's own object. It identifies exchanges of the runtime, even when a middleware
 * has replaced the context by one that passes `get` on.
 */
export const contextInitKey: ContextKey<ContextInit> = createContextKey("init");

/** Key of the request that a server or runtime made the context for; a client has none. */
export const receivedRequestKey: ContextKey<Request> = createContextKey("received request");

const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** The only class of contexts. */
export class ExchangeContext implements Context {
  readonly startedAt: number;
  requestId: string | undefined;
  params: Readonly<Record<string, string>>;
  readonly #request: Request;
  readonly #init: ContextInit;
  #ip: string | undefined;
  #ipIsSet = false;
  #values: Map<ContextKey<unknown>, unknown> | undefined;
  #listeners: FinishListener[] | undefined;
  #report: FinishReport | undefined;

  constructor(request: Request, init: ContextInit) {
    this.startedAt = init.startedAt ?? performance.now();
    this.requestId = init.requestId;
    this.params = init.params ?? noParams;
    this.#request = request;
    this.#init = init;
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
    // `T` is the type of these keys; and for all others, `set` took a value of the key's own type.
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

  /** Returns whether there are finish listeners. */
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

/** For an exchange that no runtime started. */
export const noInit: ContextInit = Object.freeze({});

/**
 * Creates the context of an exchange, for runtime adapters and tests. End it with {@link
 * finishContext}.
 *
 * A handler of {@link wrap} that is called without a context creates and ends one itself.
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
 * Ends an exchange and calls its finish listeners in order. For authors of runtime adapters: call
 * it after the last byte of the body was written, or when the exchange broke off. Only the first
 * call counts.
 *
 * @throws HttpUsageError `ERR_HTTP_CONTEXT` when the context is not one of {@link createContext}
 */
export function finishContext(context: Context, end: ExchangeEnd): void {
  if (!(context instanceof ExchangeContext)) {
    throw new HttpUsageError("ERR_HTTP_CONTEXT", "finishContext needs a context of createContext");
  }
  ExchangeContext.finish(context, end);
}
