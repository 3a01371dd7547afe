import type { PreparedResponse } from "../response.ts";
import type { NodeExchange } from "./exchange.ts";

/**
 * Writes status and headers. The length, when it is known, replaces what the handler said: a wrong one would let
 * the client take the next response for the rest of this one.
 */
export function writeHead(
  exchange: NodeExchange,
  prepared: Pick<PreparedResponse, "status" | "statusText" | "headers">,
  length?: number,
): void {
  const { response, runtime } = exchange;
  const { status, statusText } = prepared;
  const isBodyless = status === 204 || status === 304;
  const headers: string[] = [];
  let mayClose = false;
  for (let index = 0; index + 1 < prepared.headers.length; index += 2) {
    const name = prepared.headers[index];
    const value = prepared.headers[index + 1];
    if (name === undefined || value === undefined) continue;
    switch (name) {
      // RFC 9110, 7.6.1: these speak of one connection, and not of ours when the response was fetched elsewhere.
      case "connection":
        mayClose ||= value.toLowerCase() === "close";
        break;
      case "keep-alive":
      case "proxy-connection":
      case "te":
      case "trailer":
      case "transfer-encoding":
      case "upgrade":
        break;
      case "content-length":
        if (length === undefined && status !== 204) headers.push(name, value);
        break;
      default:
        headers.push(name, value);
    }
  }
  if (length !== undefined && !isBodyless) headers.push("content-length", String(length));
  if (mayClose || runtime.isClosing) response.shouldKeepAlive = false;
  if (exchange.request.httpVersionMajor === 2) {
    response.writeHead(status, groupHeaders(headers));
  } else if (statusText === "") {
    response.writeHead(status, headers);
  } else {
    response.writeHead(status, statusText.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, ""), headers);
  }
}

/** HTTP/2's response takes an object only; a repeated name becomes a list. */
function groupHeaders(headers: readonly string[]): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    const value = headers[index + 1];
    if (name === undefined || value === undefined) continue;
    const present = grouped[name];
    if (present === undefined) grouped[name] = value;
    else grouped[name] = [present, value].flat();
  }
  return grouped;
}
