import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { isExposedError } from "@fetchwork/kit";
import type { Context } from "../../context.ts";
import { contextInitKey } from "../../exchange/create-context.ts";
import { NodeExchange } from "../exchange/node-exchange.ts";
import { toLimitedStream } from "../request/request-body.ts";
import type { ApplicationSocket } from "./application-socket.ts";

/** Opens the body of a request when it is read; null when there is none after all. */
type OpenBody = () => ReadableStream<Uint8Array> | null;

/** Parts of a request of Node that a web request lacks. */
export interface ApplicationRequestParts {
  readonly socket: ApplicationSocket;
  /** Called when the body fails and the application does not listen for errors of its request. */
  readonly onUnhandledError: (error: Error) => void;
}

/**
 * Creates Node's request of a web one; its body is read from the web one as the application reads
 * it.
 *
 * Express replaces the prototype, so what differs from Node's class is set on the object.
 */
export function createApplicationRequest(
  request: Request,
  context: Context,
  parts: ApplicationRequestParts,
): IncomingMessage {
  const openBody = findBody(request, context);
  // `IncomingMessage` needs only what a `Duplex` has.
  const message = new IncomingMessage(parts.socket as unknown as Socket);
  const url = new URL(request.url);
  message.method = request.method;
  message.url = url.pathname + url.search;
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  setHeaders(message, headerLines(request, url.host, openBody));
  readBodyOnDemand(message, openBody, parts.onUnhandledError);
  return message;
}

/**
 * Finds the body that the application reads; undefined when there is none. A `Request` has no body
 * for GET and HEAD. Theirs is taken from Node's own request, unless a middleware has removed it or
 * changed the method.
 */
function findBody(request: Request, context: Context): OpenBody | undefined {
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return () => request.body;
  const exchange = context.get(contextInitKey);
  if (!(exchange instanceof NodeExchange) || !exchange.hasBody) return undefined;
  const { request: message, runtime } = exchange;
  const isFramed = headers.has("content-length") || headers.has("transfer-encoding");
  if (!isFramed || message.method !== method || message.readableDidRead) return undefined;
  return () => toLimitedStream(message, runtime.maxRequestBodySize);
}

function setHeaders(message: IncomingMessage, lines: readonly (readonly [string, string])[]): void {
  message.rawHeaders = lines.flat();
  message.headers = Object.fromEntries(lines);
  message.headersDistinct = Object.fromEntries(lines.map(([name, value]) => [name, [value]]));
}

function headerLines(
  request: Request,
  host: string,
  openBody: OpenBody | undefined,
): [string, string][] {
  const lines: [string, string][] = [];
  let hasHost = false;
  let hasFraming = false;
  for (const [name, value] of request.headers) {
    hasHost ||= name === "host";
    if (name === "content-length" || name === "transfer-encoding") {
      // Body parsers wait for what these announce.
      if (openBody === undefined && value !== "0") continue;
      hasFraming = true;
    }
    lines.push([name, value]);
  }
  if (!hasHost) lines.push(["host", host]);
  // Body parsers look for one of the two before they read.
  if (!hasFraming && openBody !== undefined && request.body !== null) {
    lines.push(["transfer-encoding", "chunked"]);
  }
  return lines;
}

function readBodyOnDemand(
  message: IncomingMessage,
  openBody: OpenBody | undefined,
  onUnhandledError: (error: Error) => void,
): void {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const read = async (): Promise<void> => {
    reader ??= openBody?.()?.getReader();
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) {
      message.complete = true;
      message.push(null);
    } else {
      message.push(value);
    }
  };
  const nodeRead = message._read.bind(message);
  message._read = (size) => {
    // Ends the state in which Node's parser has not begun.
    nodeRead(size);
    read().catch((error: unknown) => message.destroy(toApplicationError(error)));
  };
  message._destroy = (error, callback) => {
    if (!message.complete) {
      reader?.cancel(error).catch(() => undefined);
      // Body parsers wait for the end of a request that failed, unless its connection is no longer
      // readable.
      message.socket.readable = false;
      if (error === null || isReset(error)) {
        // Old applications still read it.
        // oxlint-disable-next-line typescript/no-deprecated
        message.aborted = true;
        message.emit("aborted");
      }
    }
    const isHandled = message.listenerCount("error") > 0;
    if (error !== null && !isHandled) onUnhandledError(error);
    // Without a listener an "error" would end the process.
    callback(isHandled ? error : null);
  };
}

function isReset(error: Error): boolean {
  return "code" in error && error.code === "ECONNRESET";
}

/**
 * Makes the error that the application gets. It is new, because Express sets `status` on it, which
 * may be read-only, and it has `statusCode`, which Fastify reads.
 */
function toApplicationError(cause: unknown): Error {
  if (!(cause instanceof Error)) return new Error("the body of the request failed", { cause });
  const error = new Error(cause.message, { cause });
  const code = "code" in cause ? { code: cause.code } : {};
  if (!isExposedError(cause)) return Object.assign(error, code);
  const { status } = cause;
  return Object.assign(error, code, { status, statusCode: status, expose: true });
}
