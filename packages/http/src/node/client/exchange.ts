import type { Agent, Dispatcher } from "undici";
import type { TransportHead, TransportRequest } from "../../client/transport/transport.ts";
import {
  AbortError,
  TimeoutError,
  TooLargeError,
} from "../../client/transport/transport-errors.ts";
import { attemptAbandoned, type ConnectionSite, type ConnectionSites } from "./connection-site.ts";
import { readCodings } from "./content-coding.ts";
import {
  detailsOf,
  isConnectionLoss,
  isDyingSession,
  toTransportFailure,
  type ExchangePhase,
} from "./transport-failure.ts";
import { ProxyFailure, refusal } from "./tunnel-connector.ts";
import type { UploadBody } from "./upload-body.ts";

/** Input of undici; `servername` keeps a caller's `Host` out of the connection choice. */
interface DispatchOptions extends Dispatcher.DispatchOptions {
  /** The origin that a connection leads to. */
  readonly origin: string;
  readonly servername: string;
}

/** Where and how an exchange goes. */
export interface ExchangeRoute {
  readonly agent: Agent;
  readonly options: DispatchOptions;
  readonly sites: ConnectionSites;
  /** Whether a 407 comes from a proxy that forwards the request. */
  readonly forwarded: boolean;
  readonly upload: UploadBody | undefined;
  readonly decompress: boolean;
  readonly maxHeaderSize: number;
}

/** Content codings to decode; none when the body stays encoded. */
export type Codings = ReturnType<typeof readCodings>;

/**
 * One request on its way through undici: when it may be sent again, when it times out, and what a
 * failure means. Its two kinds decide what happens with the response's body.
 */
export abstract class Exchange<Result> implements Dispatcher.DispatchHandler {
  readonly request: TransportRequest;
  protected readonly maxResponseSize: number;
  /** Hands the response to the caller. */
  protected readonly resolve: (response: Result) => void;
  /** Tells the caller of a failure. */
  protected readonly reject: (error: Error) => void;
  /** Bytes of the body that arrived, still coded. */
  protected received = 0;
  /** Set while undici works for this exchange. */
  protected controller: Dispatcher.DispatchController | undefined;
  readonly #route: ExchangeRoute;
  readonly #site: ConnectionSite;
  readonly #onAbort: (() => void) | undefined;
  #phase: ExchangePhase = "connecting";
  /** Whether the site counts it among those that wait for a connection. */
  #isWaiting = false;
  #ended = false;
  #reused = false;
  #repeated = false;
  #dyingPause = firstDyingPause;
  #isSent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    request: TransportRequest,
    route: ExchangeRoute,
    resolve: (response: Result) => void,
    reject: (error: Error) => void,
  ) {
    this.request = request;
    this.maxResponseSize = request.maxResponseSize;
    this.resolve = resolve;
    this.reject = reject;
    this.#route = route;
    this.#site = route.sites.of(route.options.origin);
    const { signal } = request;
    this.#onAbort =
      signal === undefined
        ? undefined
        : () => this.fail(new AbortError({ ...detailsOf(request), cause: signal.reason }));
  }

  /** Whether the caller has the response. */
  protected get ended(): boolean {
    return this.#ended;
  }

  /** Sends the request. */
  start(): void {
    const { signal } = this.request;
    if (signal !== undefined && this.#onAbort !== undefined) {
      if (signal.aborted) return this.#onAbort();
      signal.addEventListener("abort", this.#onAbort);
    }
    this.#dispatch();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown back, the request is dropped and the connection stays usable.
    if (this.#ended) throw alreadyEnded;
    this.controller = controller;
    this.#phase = "waiting";
    this.#leave();
    this.#reused = !this.#route.sites.handingOver;
  }

  onRequestSent(): void {
    this.#isSent = true;
    if (this.#phase === "waiting") this.#limit("headers");
  }

  onResponseStarted(): void {
    this.#phase = "head";
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (this.#ended) return;
    if (status < 200) {
      // undici's own limit restarts with each of them.
      if (this.#isSent && this.#timer === undefined) this.#arm("headers");
      return;
    }
    this.#phase = "body";
    this.#limit("body");
    if (status === 407 && this.#route.forwarded) {
      return this.fail(new ProxyFailure(refusal(status), { code: "HTTP_407" }));
    }
    const coding = headers["content-encoding"];
    const bodiless = status === 204 || status === 304 || this.request.method === "HEAD";
    const codings =
      coding === undefined || bodiless || status === 206 || !this.#route.decompress
        ? undefined
        : readCodings(String(coding));
    const length = headers["content-length"];
    if (length !== undefined && !bodiless) {
      if (codings === undefined && Number(length) > this.maxResponseSize) {
        return this.failTooLarge();
      }
    }
    const list = headerList(headers, codings !== undefined);
    // undici counts the bytes of HTTP/1.1 itself; only those come as a list.
    if (!Array.isArray(controller.rawHeaders)) {
      const { maxHeaderSize } = this.#route;
      if (list.join().length > maxHeaderSize) {
        return this.fail(new TooLargeError("headers", maxHeaderSize, detailsOf(this.request)));
      }
    }
    this.head({ status, headers: list }, codings);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#ended) return;
    this.received += chunk.byteLength;
    this.#timer?.refresh();
    this.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    this.controller = undefined;
    clearTimeout(this.#timer);
    this.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#ended) return;
    this.controller = undefined;
    clearTimeout(this.#timer);
    if (error === attemptAbandoned) return this.#dispatch();
    const isDying = isDyingSession(error);
    if (this.#mayRepeat(error, isDying)) {
      this.#repeated ||= !isDying;
      this.#phase = "connecting";
      this.#isSent = false;
      if (!isDying) return this.#dispatch();
      // undici keeps such a session until its connection is closed, which a busy machine does late.
      const pause = this.#dyingPause;
      this.#dyingPause *= 2;
      return void setTimeout(() => this.#dispatch(), pause);
    }
    this.fail(error);
  }

  /** Takes the head of the final response. */
  protected abstract head(head: TransportHead, codings: Codings): void;
  /** Takes a piece of the body as it arrived. */
  protected abstract data(chunk: Uint8Array): void;
  /** Takes the end of the body. */
  protected abstract end(): void;
  /** Discards what arrived, and tells the caller. */
  protected abstract drop(error: Error): void;

  /** Ends the exchange, and the connection if the response is not complete. */
  protected fail(error: unknown): void {
    if (this.#ended) return;
    const { controller } = this;
    const failure = toTransportFailure(error, {
      request: this.request,
      phase: this.#phase,
      maxHeaderSize: this.#route.maxHeaderSize,
    });
    this.settle();
    this.drop(failure);
    controller?.abort(failure);
  }

  protected failTooLarge(): void {
    this.fail(new TooLargeError("body", this.maxResponseSize, detailsOf(this.request)));
  }

  /** Lets go of everything that the exchange holds. */
  protected settle(): void {
    this.#ended = true;
    this.controller = undefined;
    clearTimeout(this.#timer);
    if (this.#onAbort !== undefined) {
      this.request.signal?.removeEventListener("abort", this.#onAbort);
    }
    this.#leave();
    this.#route.upload?.destroy();
  }

  /** undici's own timers are up to a second late, which is too much for short limits. */
  #limit(phase: "headers" | "body"): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.request.timeouts[phase] < coarseFrom) this.#arm(phase);
  }

  #arm(phase: "headers" | "body"): void {
    const limit = this.request.timeouts[phase];
    if (limit === 0) return;
    this.#timer = setTimeout(() => {
      // While the reader pauses the body, the server cannot go on.
      if (this.controller?.paused === true) this.#timer?.refresh();
      else this.fail(new TimeoutError(phase, limit, detailsOf(this.request)));
    }, limit);
  }

  #dispatch(): void {
    if (this.#ended) return;
    if (!this.#isWaiting) this.#site.join();
    this.#isWaiting = true;
    this.#route.agent.dispatch(this.#route.options, this);
    const { connect } = this.request.timeouts;
    // Not on an open connection, which was taken at once.
    if (this.#isWaiting && connect > 0) this.#limitConnecting(performance.now(), connect);
  }

  /** Ends the exchange when no attempt to connect succeeds in its time. */
  #limitConnecting(since: number, pause: number): void {
    const { connect } = this.request.timeouts;
    this.#timer = setTimeout(() => {
      const left = connect - this.#site.stalledFor(since);
      if (left > 0) this.#limitConnecting(since, left);
      else this.fail(new TimeoutError("connect", connect, detailsOf(this.request)));
    }, pause);
  }

  /** Has a connection, or needs none any more. */
  #leave(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#site.leave();
  }

  /** An idle connection may close while a request is on its way: RFC 9110, 9.2.2. */
  #mayRepeat(error: Error, isDying: boolean): boolean {
    return (
      this.#phase === "waiting" &&
      this.#route.upload === undefined &&
      idempotent.has(this.request.method) &&
      (isDying
        ? this.#dyingPause <= longestDyingPause
        : !this.#repeated && this.#reused && isConnectionLoss(error))
    );
  }
}

/** Milliseconds from which a limit is left to undici. */
const coarseFrom = 10_000;
/** Milliseconds before repeating a request that met an ended session; doubled each time. */
const firstDyingPause = 10;
const longestDyingPause = 320;
const alreadyEnded = new Error("The exchange ended before its request was sent");
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "QUERY"]);

function headerList(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  decoded: boolean,
): string[] {
  const list: string[] = [];
  for (const name in headers) {
    if (decoded && (name === "content-encoding" || name === "content-length")) continue;
    const value = headers[name];
    if (typeof value === "string") list.push(name, value);
    else if (value !== undefined) for (const one of value) list.push(name, one);
  }
  return list;
}
