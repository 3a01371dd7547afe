import { isConnectionHeader } from "@fetchwork/kit";
import type { PreparedResponse } from "../../message/fast-response.ts";
import type { NodeExchange } from "./node-exchange.ts";

/**
 * Writes status and headers. A known length replaces the handler's `Content-Length`: with a wrong
 * one the client would take the next response for the rest of this one.
 */
export function writeHead(
  exchange: NodeExchange,
  prepared: Pick<PreparedResponse, "status" | "statusText" | "headers">,
  length?: number,
): void {
  const { response, runtime } = exchange;
  const { status, statusText } = prepared;
  const { headers, closes } = withoutFraming(prepared, length);
  if (length !== undefined && status !== 204 && status !== 304) {
    headers.push("content-length", String(length));
  }
  if (closes || runtime.isClosing) response.shouldKeepAlive = false;
  if (exchange.request.httpVersionMajor === 2) {
    response.writeHead(status, groupHeaders(headers));
  } else if (statusText === "") {
    response.writeHead(status, headers);
  } else {
    response.writeHead(status, statusText.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, ""), headers);
  }
}

/** Copies headers without those the server sets. `closes`: close the connection. */
function withoutFraming(
  { status, headers }: Pick<PreparedResponse, "status" | "headers">,
  length: number | undefined,
): { readonly headers: string[]; readonly closes: boolean } {
  const kept: string[] = [];
  let closes = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    const value = headers[index + 1];
    if (name === undefined || value === undefined) continue;
    if (isConnectionHeader(name)) {
      closes ||= name === "connection" && value.toLowerCase() === "close";
    } else if (name !== "content-length" || (length === undefined && status !== 204)) {
      kept.push(name, value);
    }
  }
  return { headers: kept, closes };
}

/** A response of HTTP/2 accepts an object only, in which a repeated name is a list. */
function groupHeaders(headers: readonly string[]): Record<string, string | string[]> {
  // Not in the object itself: names such as `constructor` are found in its prototype.
  const grouped = new Map<string, string | string[]>();
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index];
    const value = headers[index + 1];
    if (name === undefined || value === undefined) continue;
    const present = grouped.get(name);
    grouped.set(name, present === undefined ? value : [present, value].flat());
  }
  return Object.fromEntries(grouped);
}
