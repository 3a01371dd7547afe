import type { Context } from "../context.ts";
import { receivedRequestKey } from "./create-context.ts";

/**
 * Returns whether a request is the one that a server received in this exchange, possibly changed by
 * `deriveRequest`. One that a handler sends elsewhere with the same context is not. A middleware
 * for clients detects by it that it was put around the handler of a server.
 */
export function isReceivedRequest(request: Request, context: Context): boolean {
  const received = context.get(receivedRequestKey);
  if (received === undefined) return false;
  if (request === received) return true;
  return "_request" in request && originOf(request) === originOf(received);
}

function originOf({ url }: Request): string {
  return new URL(url).origin;
}
