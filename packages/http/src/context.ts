import type { ContextKey } from "./context-key.ts";

/** Facts about an exchange besides its request; one object, shared by all middlewares. */
export interface Context {
  /** Address of the other end of the connection; never taken from a header. */
  readonly peer: string | undefined;
  /** Client address: {@link Context.peer} until a middleware for proxies replaces it. */
  ip: string | undefined;
  /** Identifier of this exchange, if a middleware has set one. */
  requestId: string | undefined;
  /** Start of the exchange, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** Path parameters that the router found, percent-decoded. */
  params: Readonly<Record<string, string>>;
  /** Aborted when the client leaves before it has the whole response. Created on first use. */
  readonly signal: AbortSignal;
  /** Keeps the server or worker alive until the promise settles; reports rejections. */
  waitUntil(promise: Promise<unknown>): void;
  /**
   * Calls the listener once, after the last byte of the body or when the exchange breaks off; at
   * once when it has ended already. Listeners run in the order in which they were added. When one
   * throws or rejects, the error is reported and the others still run.
   */
  onFinish(listener: FinishListener): void;
  /** Returns the value of a key, if one was set for this exchange. */
  get<T>(key: ContextKey<T>): T | undefined;
  /** Sets the value of a key for this exchange. */
  set<T>(key: ContextKey<T>, value: T): void;
}

/** Receives the end of an exchange. */
export type FinishListener = (report: FinishReport) => void;

/** How an exchange ended. */
export interface FinishReport {
  /** Status that was sent. Without one: 500 after a failure, 499 if the client left. */
  readonly status: number;
  /** Bytes of the body that were written, after content coding, without framing. */
  readonly bytes: number;
  /** Time from {@link Context.startedAt} to the end of the body, in milliseconds. */
  readonly duration: number;
  /** Whether the client left before it had the whole response. */
  readonly aborted: boolean;
  /** The error that the handler threw or the body's stream failed with. */
  readonly error?: unknown;
}
