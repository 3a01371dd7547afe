import type { PreparedResponse } from "../../message/lazy-response.ts";
import type { NodeExchange } from "./node-exchange.ts";

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
  const { headers, mayClose } = withoutFraming(prepared, length);
  if (length !== undefined && status !== 204 && status !== 304) {
    headers.push("content-length", String(length));
  }
  if (mayClose || runtime.isClosing) response.shouldKeepAlive = false;
  if (exchange.request.httpVersionMajor === 2) {
    response.writeHead(status, groupHeaders(headers));
  } else if (statusText === "") {
    response.writeHead(status, headers);
  } else {
    response.writeHead(status, statusText.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, ""), headers);
  }
}

// RFC 9110, 7.6.1: these speak of one connection, and not of ours when the response was fetched elsewhere.
const connectionNames: ReadonlySet<string | undefined> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A copy without what the server says itself, and whether the handler wants the connection closed. */
function withoutFraming(
  { status, headers }: Pick<PreparedResponse, "status" | "headers">,
  length: number | undefined,
): { readonly headers: string[]; readonly mayClose: boolean } {
  const kept: string[] = [];
  let mayClose = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    const value = headers[index + 1];
    if (name === undefined || value === undefined) continue;
    if (connectionNames.has(name)) {
      mayClose ||= name === "connection" && value.toLowerCase() === "close";
    } else if (name !== "content-length" || (length === undefined && status !== 204)) {
      kept.push(name, value);
    }
  }
  return { headers: kept, mayClose };
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
