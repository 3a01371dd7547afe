import { ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { Http2Stream } from "node:http2";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { lingerAfterResponse, lingerAndClose } from "./linger.ts";
import { neverStart } from "./pipelining.ts";

/** Why a request gets no further than the server. */
export interface Rejection {
  readonly status: number;
  /** For a person; reveals nothing about the inside of the server. */
  readonly detail: string;
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  417: "Expectation Failed",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  505: "HTTP Version Not Supported",
};

/** The media type of {@link problemOf}. */
export const problemType = "application/problem+json";

/** Formats a rejection as a problem (RFC 9457), with `message` for many clients. */
export function problemOf({ status, detail }: Rejection): string {
  const title = titles[status];
  return JSON.stringify({ type: "about:blank", title, status, detail, message: detail });
}

/** Connections that close after a rejection. */
const rejected = new WeakSet<Socket>();

/**
 * Returns whether an earlier request of the connection was rejected. Nothing after it is handled
 * (RFC 9112, 9.6), because client and server may disagree about where the rejected request ends;
 * request smuggling is built on that.
 */
export function isAfterRejection({ socket }: IncomingMessage): boolean {
  return rejected.has(socket);
}

/** Responds to a request for which there is no exchange yet, and closes the connection. */
export function rejectRequest(
  request: IncomingMessage,
  response: ServerResponse,
  rejection: Rejection,
): void {
  if (isAfterRejection(request)) {
    neverStart(response);
    return;
  }
  const body = problemOf(rejection);
  const headers: Record<string, string | number> = {
    "content-type": problemType,
    "content-length": Buffer.byteLength(body),
  };
  if (!isHttp2(request)) {
    headers["connection"] = "close";
    rejected.add(request.socket);
    if (!request.complete) lingerAfterResponse(request.socket);
  }
  response.writeHead(rejection.status, headers);
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Whether a request came over HTTP/2; the request's own version is not enough. */
export function isHttp2(
  request: IncomingMessage,
): request is IncomingMessage & { readonly stream: Http2Stream } {
  return request.httpVersionMajor === 2 && "stream" in request;
}

/** Responds on a connection for which Node has made no response, and closes it. */
export function rejectConnection(socket: Duplex, rejection: Rejection): void {
  const body = problemOf(rejection);
  const lines = [
    `HTTP/1.1 ${rejection.status} ${titles[rejection.status] ?? ""}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ];
  socket.write(lines.join("\r\n"));
  end(socket);
}

/** Closes a connection whose client may still send. */
function end(socket: Duplex): void {
  if (socket instanceof Socket) lingerAndClose(socket);
  else socket.end(() => socket.destroy());
}

/** Responds to what Node's parser and time limits reject, and closes the connection. */
export function rejectParserErrors(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // More data after the last request is nobody's; the response to that request ends the
    // connection.
    if (error.code === "HPE_CLOSED_CONNECTION") return;
    const rejection = rejectionOf(error.code);
    const response = currentResponse(socket);
    if (rejection === undefined || !socket.writable) {
      socket.destroy();
    } else if (response === undefined || (!response.headersSent && !response.req.complete)) {
      rejectConnection(socket, rejection);
    } else {
      closeAfter(response, socket);
    }
  });
}

/**
 * Takes a connection that Node has handed over for CONNECT or an upgrade. Node no longer listens
 * for its errors. Returns false, and lets the connection close, when an earlier response is not
 * sent yet, or is a rejection.
 */
export function takeConnection(request: IncomingMessage, socket: Duplex): boolean {
  // A client may leave at any time; without a listener the error would end the process.
  socket.on("error", () => undefined);
  if (isAfterRejection(request)) return false;
  const response = currentResponse(socket);
  if (response !== undefined) closeAfter(response, socket);
  return response === undefined;
}

/** Closes a connection on which the response to an earlier request is not sent yet. */
function closeAfter(response: ServerResponse, socket: Duplex): void {
  // The last bytes may still be on their way. Otherwise the client would take another response for
  // this one.
  if (response.writableEnded) end(socket);
  else socket.destroy();
}

function rejectionOf(code: string | undefined): Rejection | undefined {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, detail: "the request did not arrive in time" };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, detail: "the chunk extensions of the body are too large" };
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, detail: "the head of the request is too large" };
    default:
      // All others, such as a reset or a failed TLS handshake, leave nobody to respond to.
      return code?.startsWith("HPE_") === true
        ? { status: 400, detail: "the request is not a valid HTTP/1.1 message" }
        : undefined;
  }
}

/** The response that Node is writing to a connection, for which it has no public name. */
function currentResponse(socket: Duplex): ServerResponse | undefined {
  const response: unknown = "_httpMessage" in socket ? socket._httpMessage : undefined;
  return response instanceof ServerResponse ? response : undefined;
}
