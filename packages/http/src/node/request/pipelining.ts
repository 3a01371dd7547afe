import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Returns whether the response to an earlier request of the connection is not sent yet. Node passes
 * all requests of a connection to its listener as they come (RFC 9112, 9.3.2). If all were handled
 * at once, the server would keep thousands of responses for a client that reads none.
 */
export function isPipelined(request: IncomingMessage, response: ServerResponse): boolean {
  // Only a response that has to wait has no connection yet, and one of a server that is not Node's.
  if (response.socket !== null) return false;
  const socket: unknown = request.socket;
  if (typeof socket !== "object" || socket === null || !("_httpMessage" in socket)) return false;
  const { _httpMessage: current } = socket;
  return typeof current === "object" && current !== null && current !== response;
}

/** Bytes that a waiting request counts as: about the memory that it takes. */
const weight = 4_096;

/** Calls `start` when the earlier response is sent; never if the connection ends before that. */
export function startWhenSent(response: ServerResponse, start: () => void): void {
  const assignSocket = response.assignSocket.bind(response);
  countPending(response, weight);
  // Node calls this when it is the turn of a response.
  response.assignSocket = (socket) => {
    assignSocket(socket);
    countPending(response, -weight);
    start();
  };
}

/** Lets a request wait until its connection closes. */
export function neverStart(response: ServerResponse): void {
  countPending(response, weight);
}

/** Node stops reading while waiting responses exceed what the connection buffers. */
function countPending(response: ServerResponse, bytes: number): void {
  const add: unknown = "_onPendingData" in response ? response._onPendingData : undefined;
  if (typeof add === "function") Reflect.apply(add, response, [bytes]);
}
