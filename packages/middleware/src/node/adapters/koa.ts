import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { createContextKey, type Context, type Middleware } from "@fetchwork/http";
import { takeResponse } from "../../body/replace-body.ts";
import { checkFunction } from "../../check-options.ts";
import { CapturedResponse } from "./captured-response.ts";
import { errorOf, exchangeOf, findExchange, type FrameworkExchange } from "./framework-exchange.ts";
import { messageHeaders } from "./message-headers.ts";
import { passRequest } from "./pass-request.ts";
import { hasBody } from "./send-response.ts";
import { checkChunk, toBytes } from "./write-arguments.ts";

/** The part of Koa's context that is used. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly request: { ip: string };
  status: number;
  message: string;
  body: unknown;
}

/** A middleware of Koa. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>;

interface KoaRun {
  readonly koa: KoaContext;
  readonly exchange: FrameworkExchange;
  readonly next: () => Promise<unknown>;
  captured: CapturedResponse | undefined;
}

/**
 * Makes a middleware of Koa from one of ours, for `app.use` or a route of a router.
 *
 * The response is what `ctx.status`, `ctx.body` and the headers are after `await next()`; one that a middleware leaves
 * alone stays unchanged. Errors of what comes after reach the middleware, so `recoverer` works. A changed path, method,
 * header or body reaches what comes after, and an address that `realIp` found is `ctx.ip`. A response that a handler writes
 * into `ctx.res` itself, with `ctx.respond = false`, passes by.
 *
 * @example
 * ```ts
 * app.use(toKoa(cors({ allowedOrigins: ["https://app.example.com"] })));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the middleware is not a function
 */
export function toKoa(middleware: Middleware): KoaMiddleware {
  checkFunction(middleware, "middleware");
  const key = createContextKey<KoaRun>("koa");
  const handler = middleware(async (request, context) => {
    const run = context.get(key);
    if (run === undefined) throw new Error("the middleware passed on another context");
    const { koa, exchange, next } = run;
    passRequest(exchange, request);
    if (context.ip !== undefined && context.ip !== context.peer) koa.request.ip = context.ip;
    await next();
    run.captured = captureBody(koa);
    return run.captured;
  });
  return async (koa, next) => {
    const exchange = exchangeOf(koa.req, koa.res);
    const run: KoaRun = { koa, exchange, next, captured: undefined };
    exchange.context.set(key, run);
    exchange.onWatch ??= () => countBytes(exchange);
    try {
      const response = await handler(exchange.request, exchange.context);
      const { captured } = run;
      if (response === captured && !CapturedResponse.isTaken(captured)) return;
      assignResponse(koa, response, captured === undefined ? "add" : "replace");
    } catch (thrown) {
      const error = errorOf(thrown);
      exchange.error ??= error;
      throw error;
    }
  };
}

/** Returns the context of a request of Koa; undefined when no middleware of ours has seen it. */
export function koaContext(koa: { readonly res: ServerResponse }): Context | undefined {
  return findExchange(koa.res)?.context;
}

function captureBody(koa: KoaContext): CapturedResponse {
  const { res } = koa;
  const { body } = koa;
  return new CapturedResponse(
    {
      status: koa.status,
      statusText: res.statusMessage ?? "",
      headers: messageHeaders({
        read: (name) => res.getHeader(name),
        write: (name, value) => void res.setHeader(name, value),
        remove: (name) => res.removeHeader(name),
        names: () => res.getHeaderNames(),
      }),
    },
    { whole: () => wholeBody(body), open: () => streamOf(body) },
  );
}

/** What Koa would send in one piece; undefined for streams. */
function wholeBody(body: unknown): string | Uint8Array<ArrayBuffer> | null | undefined {
  if (body === null || body === undefined) return null;
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return isStreamed(body) ? undefined : JSON.stringify(body);
}

function isStreamed(body: unknown): boolean {
  return (
    body instanceof Readable ||
    body instanceof ReadableStream ||
    body instanceof Blob ||
    body instanceof Response ||
    (typeof body === "object" && body !== null && "pipe" in body)
  );
}

function streamOf(body: unknown): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  if (body instanceof Response) return body.body;
  // Node's type of streams differs from the platform's.
  if (body instanceof Readable) {
    return Readable.toWeb(Readable.from(bytesOf(body), { objectMode: false })) as never;
  }
  return new Response(body as BodyInit).body;
}

/**
 * The chunks of a stream, which may be text.
 *
 * @yields The bytes of each chunk.
 */
async function* bytesOf(stream: Readable): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of stream) {
    checkChunk(chunk);
    yield toBytes(chunk, stream.readableEncoding ?? undefined);
  }
}

/** Makes a response of a middleware that of Koa, which sends it when all middlewares are done. */
function assignResponse(koa: KoaContext, response: Response, headers: "add" | "replace"): void {
  const taken = takeResponse(response);
  const before = koa.res.getHeaderNames();
  // Koa derives the headers of a HEAD response from its body, and writes the text of a status that has none.
  const isKoas = headers === "replace" && (!hasBody(koa.res) || wholeBody(koa.body) === null);
  if (taken.body !== null || !isKoas) koa.body = toKoaBody(taken.body);
  koa.status = taken.status;
  if (taken.statusText !== "") koa.message = taken.statusText;
  const names = new Set<string>();
  for (const [name, value] of taken.headers) {
    if (names.has(name)) continue;
    names.add(name);
    koa.res.setHeader(name, name === "set-cookie" ? taken.headers.getSetCookie() : value);
  }
  for (const name of koa.res.getHeaderNames()) {
    // Koa describes a new body by its own headers.
    const isStale = headers === "replace" || !before.includes(name);
    if (!names.has(name) && isStale && name !== "content-length") koa.res.removeHeader(name);
  }
}

function toKoaBody(body: unknown): unknown {
  // The platform's type of streams differs from Node's.
  if (body instanceof ReadableStream) return Readable.fromWeb(body as never);
  if (!(body instanceof Uint8Array)) return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Counts what Koa writes. */
function countBytes(exchange: FrameworkExchange): void {
  const { response } = exchange;
  for (const name of ["write", "end"] as const) {
    const write: unknown = response[name];
    if (typeof write !== "function") continue;
    const counted = (chunk: unknown, ...rest: unknown[]): unknown => {
      if (exchange.message.method !== "HEAD") exchange.bytes += sizeOf(chunk);
      return Reflect.apply(write, response, [chunk, ...rest]);
    };
    Reflect.set(response, name, counted);
  }
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}
