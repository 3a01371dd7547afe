import type { ContextKey } from "./context-key.ts";

/** What is known about an exchange beside its request. One object per request, shared by all layers. */
export interface Context {
  /** Address of the other end of the connection, as text; never taken from a header. */
  readonly peer: string | undefined;
  /** Address of the client: {@link Context.peer}, until a middleware that knows the proxies replaces it. */
  ip: string | undefined;
  /** Identifier of this exchange, when a middleware has given it one. */
  requestId: string | undefined;
  /** Start of the exchange, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Path parameters, as the router that chose the handler found them, percent-decoded. */
  params: Readonly<Record<string, string>>;
  /** Aborted when the client goes away before it has the whole response. Made on first use. */
  readonly signal: AbortSignal;
  /** Keeps the server (or the worker) alive until the promise settles; a rejection is reported, not thrown. */
  waitUntil(promise: Promise<unknown>): void;
  /**
   * Calls the listener once, after the last byte of the body or when the exchange breaks off. Listeners run in
   * the order in which they were added; what one throws or rejects with is reported and keeps no other from running.
   * Added after the end, a listener is called at once.
   */
  onFinish(listener: FinishListener): void;
  /** Value of a user's own key, if one was set. */
  get<T>(key: ContextKey<T>): T | undefined;
  /** Sets the value of a user's own key for this exchange. */
  set<T>(key: ContextKey<T>, value: T): void;
}

/** Receives the end of an exchange. */
export type FinishListener = (report: FinishReport) => void;

/** How an exchange ended. */
export interface FinishReport {
  /**
   * Status that was sent. When there was none: 500 if the handler failed, 499 if the client went away before.
   */
  readonly status: number;
  /** Bytes of body handed to the connection, after content coding, without framing. */
  readonly bytes: number;
  /** Time from {@link Context.startedAt} to the end of the body, in milliseconds. */
  readonly duration: number;
  /** Whether the client went away before it had the whole response. */
  readonly aborted: boolean;
  /** What the handler threw or the body's stream failed with. */
  readonly error?: unknown;
}
