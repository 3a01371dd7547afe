import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Whether the answer to an earlier request of the connection is not out yet. Node gives all requests of a connection to
 * its listener as they come (RFC 9112, 9.3.2), so somebody who sends thousands and takes no answer would have them all
 * handled and every answer kept.
 */
export function isBehindAnother(request: IncomingMessage, response: ServerResponse): boolean {
  // Only a response that has to wait, and one of a server that is not Node's, has no connection yet.
  if (response.socket !== null) return false;
  const socket: unknown = request.socket;
  if (typeof socket !== "object" || socket === null || !("_httpMessage" in socket)) return false;
  const { _httpMessage: current } = socket;
  return typeof current === "object" && current !== null && current !== response;
}

/** Bytes that a request in line counts as: about what it takes. */
const weight = 4_096;

/** Calls `start` when the answer before is out; never, when the connection ends before that. */
export function startInTurn(response: ServerResponse, start: () => void): void {
  const assignSocket = response.assignSocket.bind(response);
  count(response, weight);
  // What Node calls when it is the turn of a response.
  response.assignSocket = (socket) => {
    assignSocket(socket);
    count(response, -weight);
    start();
  };
}

/** Node reads no more of a connection while it counts more bytes of waiting answers than the connection buffers. */
function count(response: ServerResponse, bytes: number): void {
  const add: unknown = "_onPendingData" in response ? response._onPendingData : undefined;
  if (typeof add === "function") Reflect.apply(add, response, [bytes]);
}
