import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { isConnectionHeader } from "@fetchwork/kit";
import { takeResponse, type ReplacedBody } from "../../body/replace-body.ts";
import type { FrameworkExchange } from "./framework-exchange.ts";

/** Node's own functions, or those of what patched the response before. */
export interface ResponseFunctions {
  readonly writeHead: ServerResponse["writeHead"];
  readonly write: ServerResponse["write"];
  readonly end: ServerResponse["end"];
  readonly flushHeaders: ServerResponse["flushHeaders"];
  readonly setHeader: ServerResponse["setHeader"];
  readonly appendHeader: ServerResponse["appendHeader"];
  readonly removeHeader: ServerResponse["removeHeader"];
}

/** Whether a response has a body that is sent. */
export function hasBody({ req, statusCode }: ServerResponse): boolean {
  return req.method !== "HEAD" && statusCode !== 204 && statusCode !== 304;
}

/**
 * Sends a response that a middleware made, with Node's functions. Its headers replace those that the framework's response
 * had, or are added to those that were set before the framework was asked.
 */
export function sendResponse(
  exchange: FrameworkExchange,
  functions: ResponseFunctions,
  web: Response,
  headers: "add" | "replace",
): void {
  const { response } = exchange;
  const taken = takeResponse(web);
  const { body, status, statusText } = taken;
  if (response.destroyed || response.writableEnded) {
    if (body instanceof ReadableStream && !body.locked) body.cancel().catch(() => undefined);
    return;
  }
  response.statusCode = status;
  // Node writes the standard text when there is none.
  if (statusText !== "") response.statusMessage = statusText;
  else if (Object.hasOwn(response, "statusMessage"))
    Reflect.deleteProperty(response, "statusMessage");
  const names = setHeaders(response, taken.headers);
  if (headers === "replace") {
    for (const name of response.getHeaderNames()) {
      if (!names.has(name) && !isKept(name, body)) response.removeHeader(name);
    }
  }
  const { end } = functions;
  if (body instanceof ReadableStream && hasBody(response)) {
    pump(exchange, functions, body).catch((error: unknown) => {
      exchange.error = error;
      response.destroy();
      console.error(error);
    });
    return;
  }
  if (body instanceof ReadableStream) body.cancel().catch(() => undefined);
  const chunk = body instanceof ReadableStream ? null : body;
  if (hasBody(response) || (chunk !== null && status !== 204 && status !== 304)) {
    const length = typeof chunk === "string" ? Buffer.byteLength(chunk) : (chunk?.byteLength ?? 0);
    response.setHeader("content-length", length);
    if (hasBody(response)) exchange.bytes += length;
  }
  if (chunk !== null && hasBody(response)) Reflect.apply(end, response, [chunk]);
  else Reflect.apply(end, response, []);
}

/** Whether a header that the framework set stays, because the connection is the framework's. */
function isKept(name: string, body: ReplacedBody): boolean {
  if (name === "transfer-encoding") return false;
  // Node sends trailers only after a body of unknown length.
  return name === "trailer" ? body instanceof ReadableStream : isConnectionHeader(name);
}

/** Sets the headers and returns their names. */
function setHeaders(response: ServerResponse, headers: Headers): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [name, value] of headers) {
    if (isConnectionHeader(name) || names.has(name)) continue;
    names.add(name);
    response.setHeader(name, name === "set-cookie" ? headers.getSetCookie() : value);
  }
  return names;
}

async function pump(
  exchange: FrameworkExchange,
  { write, end, flushHeaders }: ResponseFunctions,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const { response } = exchange;
  const reader = body.getReader();
  const onClose = (): void => {
    if (response.writableFinished) return;
    reader.cancel(new DOMException("the client has gone", "AbortError")).catch(() => undefined);
  };
  response.once("close", onClose);
  // The head does not wait for a first chunk that comes later, as that of events does.
  const turn = setImmediate(() => {
    if (!response.destroyed && !response.writableEnded) flushHeaders.call(response);
  });
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (response.destroyed) return;
      if (done) break;
      exchange.bytes += value.byteLength;
      Reflect.apply(write, response, [value]);
      // A framework that waits for "drain" itself causes more such events.
      while (response.writableNeedDrain && !response.destroyed) await drained(response);
    }
    Reflect.apply(end, response, []);
  } catch (error) {
    // If the client has gone, the framework's source fails as well.
    if (!response.destroyed) throw error;
  } finally {
    clearImmediate(turn);
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const events = ["drain", "close"].map((name) =>
    once(response, name, { signal }).catch(() => undefined),
  );
  await Promise.race(events);
  controller.abort();
}
