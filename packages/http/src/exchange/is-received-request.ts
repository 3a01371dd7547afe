import type { Context } from "../context.ts";
import { receivedRequestKey } from "./create-context.ts";

/**
 * Whether a request is the one that a server received in this exchange, also after a middleware changed it with
 * `deriveRequest`; and not one that a handler sends somewhere else with the same context. Lets a middleware for clients
 * notice that it stands around a server.
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
