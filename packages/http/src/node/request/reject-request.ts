import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Why a request gets no further than the server. */
export interface Rejection {
  readonly status: number;
  /** For a person; says nothing about the inside of the server. */
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
};

/** The media type of {@link problemOf}. */
export const problemType = "application/problem+json";

/** Writes a refusal as a problem (RFC 9457), with the text under `message` as well, where clients look for it. */
export function problemOf({ status, detail }: Rejection): string {
  return JSON.stringify({
    type: "about:blank",
    title: titles[status],
    status,
    detail,
    message: detail,
  });
}

/** Connections that close after a refusal. */
const refused = new WeakSet<Socket>();

/**
 * Whether a request came behind one that was refused: RFC 9112, 9.6, has nothing further of its connection handled. How
 * the two of them look at where a request ends may differ, as request smuggling wants it.
 */
export function isBehindRefusal({ socket }: IncomingMessage): boolean {
  return refused.has(socket);
}

/** Answers a request that is refused before there is an exchange, and closes the connection after it. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Rejection,
): void {
  const body = problemOf(refusal);
  const headers: Record<string, string | number> = {
    "content-type": problemType,
    "content-length": Buffer.byteLength(body),
  };
  if (request.httpVersionMajor !== 2) {
    headers["connection"] = "close";
    refused.add(request.socket);
  }
  response.writeHead(refusal.status, headers);
  response.end(request.method === "HEAD" ? undefined : body);
}

/** The bytes of an answer for a connection on which there is no response of Node to write it. */
export function rawRefusal(refusal: Rejection): string {
  const body = problemOf(refusal);
  return [
    `HTTP/1.1 ${refusal.status} ${titles[refusal.status] ?? ""}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
