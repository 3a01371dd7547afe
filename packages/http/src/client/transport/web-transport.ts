import { ByteCollector } from "@fetchwork/kit";
import { platformFailure } from "./platform-failure.ts";
import { redactUrl } from "./redact-url.ts";
import { ExchangeWatch, watchBody, type SilenceLimit } from "./exchange-watch.ts";
import { TimeoutError, TooLargeError, type TransportErrorDetails } from "./transport-errors.ts";
import type {
  HeaderList,
  StreamedResponse,
  Transport,
  TransportRequest,
  WholeResponse,
} from "./transport.ts";

/** Responds to a request; `body` is what to send, and `signal` what to listen to. */
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
    const { timeouts } = request;
    const limitOf = (phase: "headers" | "body", milliseconds: number): SilenceLimit => ({
      milliseconds,
      error: () => new TimeoutError(phase, milliseconds, detailsOf(request)),
    });
    // `fetch` does not report when there is a connection, so both phases share their time.
    const headers = timeouts.headers === 0 ? 0 : timeouts.connect + timeouts.headers;
    let watch: ExchangeWatch | undefined;
    try {
      watch = new ExchangeWatch(request.signal, limitOf("headers", headers));
      const response = await this.#head(request, watch);
      return this.#watched(request, response, { watch, limit: limitOf("body", timeouts.body) });
    } catch (error) {
      watch?.release();
      watch?.end(error);
      throw platformFailure(error, request);
    }
  }

  async close(): Promise<void> {
    // Connections are the platform's.
  }

  /** Waits for the head; what responds may not listen to the signal. */
  async #head(request: TransportRequest, watch: ExchangeWatch): Promise<Response> {
    const signal = watch.signal ?? new AbortController().signal;
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    watch.start();
    try {
      const called = (async () => this.#call(request, { body: request.body, signal }))();
      const response = await Promise.race([called, promise]);
      if (response instanceof Response) return response;
      throw new TypeError("the transport did not return a Response");
    } finally {
      watch.stop();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #watched(
    request: TransportRequest,
    { status, headers, body }: Response,
    { watch, limit }: { readonly watch: ExchangeWatch; readonly limit: SilenceLimit },
  ): StreamedResponse {
    const isDecoded = this.#decodes && headers.has("content-encoding");
    const head = { status, headers: headersOf(headers, isDecoded) };
    if (body === null) {
      watch.release();
      return { ...head, body: new ReadableStream({ start: (controller) => controller.close() }) };
    }
    let received = 0;
    const onPiece = ({ byteLength }: Uint8Array): void => {
      received += byteLength;
      const { maxResponseSize: max } = request;
      if (received > max) throw new TooLargeError("body", max, detailsOf(request));
    };
    const toFailure = (error: unknown): unknown => platformFailure(error, request);
    return { ...head, body: watchBody(body, watch, { limit, onPiece, toFailure }) };
  }
}

function detailsOf({ method, url }: TransportRequest): TransportErrorDetails {
  return { method, url: redactUrl(url) };
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
