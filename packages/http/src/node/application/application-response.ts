import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { isConnectionHeader } from "@fetchwork/kit";
import { HttpError, HttpUsageError } from "../../errors.ts";
import { HeaderList } from "../../message/header-list.ts";
import { replaceBody } from "../../message/replace-body.ts";
import { isNullBodyStatus } from "../../message/fast-response.ts";
import type { ApplicationSocket } from "./application-socket.ts";

type Callback = (error?: Error | null) => void;

/** Node's response for an application, and the web response that is made of it. */
export interface ApplicationResponse {
  readonly response: ServerResponse;
  /** Resolves with the head; rejects when the application breaks off before it. */
  readonly webResponse: Promise<Response>;
  /** Ends the response with an error: rejects before the head; fails the body after it. */
  readonly fail: (error: unknown) => void;
}

// The size that Node itself buffers before `write` returns false.
const highWaterMark = 64 * 1024;

/**
 * Creates a response of Node that writes into a web one.
 *
 * Express replaces the prototype, and other packages patch `writeHead`, `write` and `end`, so what
 * differs from Node's class is set on the object.
 */
export function createApplicationResponse(
  request: IncomingMessage,
  socket: ApplicationSocket,
): ApplicationResponse {
  const response = new ServerResponse(request);
  const { promise: webResponse, resolve, reject } = Promise.withResolvers<Response>();
  let body: ReadableStreamDefaultController<Uint8Array> | undefined;
  let hasHead = false;
  let needsDrain = false;

  const fail = (error: unknown): void => {
    if (!hasHead) {
      hasHead = true;
      reject(error);
    } else if (!response.writableEnded) {
      body?.error(error);
      body = undefined;
    }
    socket.destroy();
  };

  /** Resolves with the head, and the whole body if it is known already. */
  const respond = (whole: Uint8Array<ArrayBuffer> | null | undefined): void => {
    if (hasHead) return;
    if (response.statusCode < 200) {
      const message = `the status of the application must be at least 200, got ${response.statusCode}`;
      fail(new HttpUsageError("ERR_HTTP_STATUS", message));
      return;
    }
    hasHead = true;
    const head = {
      status: response.statusCode,
      statusText: response.statusMessage,
      url: "",
      redirected: false,
    };
    const headers = HeaderList.from(headersOf(response));
    if (whole !== undefined || !hasBody(response)) {
      resolve(replaceBody(head, hasBody(response) ? (whole ?? null) : null, headers));
      return;
    }
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          body = controller;
        },
        pull: () => {
          if (!needsDrain) return;
          needsDrain = false;
          response.emit("drain");
        },
        cancel: () => {
          // The application learns of it later, and may write until then.
          body = undefined;
          socket.destroy();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark }),
    );
    resolve(replaceBody(head, stream, headers));
  };

  const writeHead = response.writeHead.bind(response);
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    const reason = typeof rest[0] === "string" ? rest[0] : undefined;
    const headers = reason === undefined ? rest[0] : rest[1];
    if (!response.headersSent) applyHeaders(response, headers);
    return reason === undefined ? writeHead(status) : writeHead(status, reason);
  };

  const sendHead = (): void => {
    if (!response.headersSent) response.writeHead(response.statusCode);
  };

  response.flushHeaders = () => {
    sendHead();
    respond(undefined);
  };

  const write = (chunk: unknown, second?: unknown, third?: unknown): boolean => {
    const callback = callbackOf(second, third);
    if (response.destroyed || response.writableEnded) {
      const error = new HttpError("ERR_HTTP_LISTENER_CLOSED", "the response has ended");
      if (callback !== undefined) queueMicrotask(() => callback(error));
      return false;
    }
    const bytes = toBytes(chunk, second);
    sendHead();
    respond(undefined);
    if (body !== undefined && bytes.byteLength > 0 && hasBody(response)) body.enqueue(bytes);
    if (callback !== undefined) queueMicrotask(() => callback(null));
    needsDrain = body !== undefined && (body.desiredSize ?? 0) <= 0;
    return !needsDrain;
  };

  const end = (first?: unknown, second?: unknown, third?: unknown): ServerResponse => {
    const callback = callbackOf(first, second, third);
    if (response.writableEnded || response.destroyed) {
      if (callback !== undefined) queueMicrotask(() => callback(null));
      return response;
    }
    const chunk = typeof first === "function" ? undefined : first;
    const bytes = chunk === undefined || chunk === null ? undefined : toBytes(chunk, second);
    sendHead();
    if (hasHead) {
      if (bytes !== undefined && bytes.byteLength > 0 && hasBody(response)) body?.enqueue(bytes);
      body?.close();
    } else {
      respond(bytes ?? null);
    }
    // `writableEnded` reads it; there is no other way to set that.
    // oxlint-disable-next-line typescript/no-deprecated
    response.finished = true;
    if (callback !== undefined) response.once("finish", callback);
    process.nextTick(() => {
      response.emit("prefinish");
      response.emit("finish");
      socket.destroy();
    });
    return response;
  };

  response.write = write as ServerResponse["write"];
  response.end = end as ServerResponse["end"];
  // A web response has no trailers.
  response.addTrailers = () => undefined;
  // `ServerResponse` needs only what a `Duplex` has.
  response.assignSocket(socket as unknown as Socket);
  socket.once("close", () => {
    if (response.writableEnded) return;
    fail(
      socket.errored ??
        new HttpError("ERR_HTTP_LISTENER_CLOSED", "the application broke the response off"),
    );
  });
  return { response, webResponse, fail };
}

function hasBody(response: ServerResponse): boolean {
  return response.req.method !== "HEAD" && !isNullBodyStatus(response.statusCode);
}

function headersOf(response: ServerResponse): [string, string][] {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(response.getHeaders())) {
    if (value === undefined || isConnectionHeader(name)) continue;
    for (const item of Array.isArray(value) ? value : [value]) pairs.push([name, String(item)]);
  }
  return pairs;
}

/** Sets the headers that `writeHead` got: an object, a flat list, or a list of pairs. */
function applyHeaders(response: ServerResponse, headers: unknown): void {
  if (headers === undefined || headers === null) return;
  if (!Array.isArray(headers)) {
    // Checked by `setHeader` itself.
    for (const [name, value] of Object.entries(headers as OutgoingHttpHeaders)) {
      if (value !== undefined) response.setHeader(name, value);
    }
    return;
  }
  const pairs: [string, string][] = [];
  const flat: readonly unknown[] = headers.flat();
  for (let index = 0; index + 1 < flat.length; index += 2) {
    pairs.push([String(flat[index]), String(flat[index + 1])]);
  }
  for (const [name] of pairs) response.removeHeader(name);
  for (const [name, value] of pairs) response.appendHeader(name, value);
}

function toBytes(chunk: unknown, encoding: unknown): Uint8Array<ArrayBuffer> {
  if (typeof chunk === "string") {
    return Buffer.from(
      chunk,
      typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8",
    );
  }
  // It is never shared memory, which is all that the type excludes.
  if (chunk instanceof Uint8Array) return chunk as Uint8Array<ArrayBuffer>;
  throw new HttpUsageError(
    "ERR_HTTP_RESPONSE",
    `a chunk must be a string or Uint8Array, got ${typeof chunk}`,
  );
}

function callbackOf(...values: readonly unknown[]): Callback | undefined {
  return values.find((value): value is Callback => typeof value === "function");
}
