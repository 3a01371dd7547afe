import { ByteCollector } from "@fetchwork/kit";
import { platformFailure } from "./platform-failure.ts";
import { redactUrl } from "./redact-url.ts";
import { TimeoutError, TooLargeError, type TimeoutPhase } from "./transport-errors.ts";
import type {
  HeaderList,
  StreamedResponse,
  Transport,
  TransportRequest,
  WholeResponse,
} from "./transport.ts";

/** Answers a request; `body` is what to send, and `signal` what to listen to. */
export type WebExchange = (
  request: TransportRequest,
  sent: { readonly body: TransportRequest["body"]; readonly signal: AbortSignal },
) => Response | Promise<Response>;

/** A transport whose exchanges end in a `Response` of the platform: its `fetch`, or a handler. */
export class WebTransport implements Transport {
  readonly #call: WebExchange;
  readonly #decodes: boolean;

  /** @param options - Whether bodies arrive decoded although `Content-Encoding` is still set. */
  constructor(call: WebExchange, options: { readonly decodes: boolean }) {
    this.#call = call;
    this.#decodes = options.decodes;
  }

  async exchange(request: TransportRequest): Promise<WholeResponse> {
    const { body, ...head } = await this.stream(request);
    const bytes = new ByteCollector();
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes.add(value);
    }
    return { ...head, body: bytes.join() };
  }

  async stream(request: TransportRequest): Promise<StreamedResponse> {
    const { timeouts, body } = request;
    const watch = new ExchangeWatch(request);
    // `fetch` does not report when there is a connection, so both phases share their time.
    const limit = timeouts.headers === 0 ? 0 : timeouts.connect + timeouts.headers;
    let response: Response;
    try {
      const { signal } = watch;
      response = await watch.within("headers", limit, async () => {
        const response = await this.#call(request, { body, signal });
        if (!(response instanceof Response))
          throw new TypeError("the transport did not return a Response");
        return response;
      });
    } catch (error) {
      watch.stop(error);
      throw platformFailure(error, request);
    }
    const { status, headers } = response;
    const isDecoded = this.#decodes && headers.has("content-encoding");
    return {
      status,
      headers: headersOf(headers, isDecoded),
      body: watch.body(response.body),
    };
  }

  async close(): Promise<void> {
    // Connections are the platform's.
  }
}

/** Watches the time and the size of one exchange. */
class ExchangeWatch {
  readonly #request: TransportRequest;
  readonly #controller: AbortController;
  readonly #onAbort: () => void;

  constructor(request: TransportRequest) {
    const { signal } = request;
    this.#request = request;
    this.#controller = new AbortController();
    this.#onAbort = (): void => this.#controller.abort(signal?.reason);
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  /** Ends the exchange itself as well. */
  stop(reason: unknown): void {
    this.end();
    this.#controller.abort(reason);
  }

  /** Waits for a phase to end, for an abort, or for its time to be over. */
  async within<T>(phase: TimeoutPhase, limit: number, action: () => Promise<T>): Promise<T> {
    const { signal } = this.#controller;
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = limit === 0 ? undefined : setTimeout(() => this.#expire(phase, limit), limit);
    try {
      return await Promise.race([action(), promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Passes the body on, within its limits. */
  body(source: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> {
    if (source === null) {
      this.end();
      return new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    }
    const request = this.#request;
    const reader = source.getReader();
    let received = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { body: limit } = request.timeouts;
            const { done, value } = await this.within("body", limit, () => reader.read());
            if (done) {
              this.end();
              return controller.close();
            }
            received += value.byteLength;
            if (received > request.maxResponseSize) throw tooLarge(request);
            controller.enqueue(value);
          } catch (error) {
            this.stop(error);
            void reader.cancel(error).catch(ignore);
            throw platformFailure(error, request);
          }
        },
        cancel: async (reason) => {
          this.end();
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #expire(phase: TimeoutPhase, limit: number): void {
    const { method, url } = this.#request;
    this.#controller.abort(new TimeoutError(phase, limit, { method, url: redactUrl(url) }));
  }
}

function tooLarge({ method, url, maxResponseSize }: TransportRequest): TooLargeError {
  return new TooLargeError("body", maxResponseSize, { method, url: redactUrl(url) });
}

/** `Content-Encoding` and `Content-Length` speak of what the platform has decoded. */
function headersOf(headers: Headers, isDecoded: boolean): HeaderList {
  const list: string[] = [];
  for (const [name, value] of headers) {
    if (isDecoded && (name === "content-encoding" || name === "content-length")) continue;
    list.push(name, value);
  }
  return list;
}

function ignore(): void {
  // The caller gets the first error.
}
