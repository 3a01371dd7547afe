import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpUsageError } from "../../errors.ts";
import type { Handler } from "../../handler.ts";
import { listenerBody } from "./application-body.ts";
import { makeListenerRequest } from "./application-request.ts";
import { makeListenerResponse } from "./application-response.ts";
import { ListenerSocket } from "./application-socket.ts";
import { writeEarlyHints } from "../exchange/node-messages.ts";

/** A listener of `http.createServer`; so are an Express application, `koa.callback()` and `fastify.routing`. */
export type NodeApplication = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Makes a handler of a Node application, so that middlewares wrap it from outside.
 *
 * The application gets a request and a response of its own, with or without a server: bodies stream both ways with
 * backpressure, headers can still be changed outside, `flushHeaders()` shows at once, and a client that goes away
 * closes both. `req.socket.remoteAddress` is {@link Context.ip}. Trailers are dropped, and an upgrade is not
 * possible. An application that fails before the head rejects; after it the body fails. A request body that fails, for
 * example because it is too large, is an `error` of the application's request; one that does not listen for it has failed.
 *
 * @example
 * ```ts
 * const handler = wrap(fromNodeListener(express()), logger());
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` when the listener is no function
 */
export function fromNodeListener(listener: NodeApplication): Handler {
  if (typeof listener !== "function") {
    throw new HttpUsageError(
      "ERR_HTTP_HANDLER",
      `listener is ${typeof listener}, expected a function`,
    );
  }
  return (request, context) => {
    const socket = new ListenerSocket({
      remoteAddress: context.ip,
      encrypted: request.url.startsWith("https:"),
    });
    const nodeRequest = makeListenerRequest(request, {
      socket,
      openBody: listenerBody(request, context),
      onLost: (error) => fail(error),
    });
    const { response, answered, fail } = makeListenerResponse(nodeRequest, socket);
    response.writeEarlyHints = (hints, callback) => {
      writeEarlyHints(context, [hints["link"] ?? []].flat());
      callback?.();
    };
    const { signal } = context;
    const onAbort = (): void => {
      fail(signal.reason);
      nodeRequest.destroy(resetError(signal.reason));
    };
    if (signal.aborted) {
      onAbort();
      return answered;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    response.once("close", () => signal.removeEventListener("abort", onAbort));
    try {
      Promise.resolve(listener(nodeRequest, response)).catch(fail);
    } catch (error) {
      fail(error);
    }
    return answered;
  };
}

/** What Node gives an application whose client has gone. */
function resetError(cause: unknown): Error {
  return Object.assign(new Error("aborted", { cause }), { code: "ECONNRESET" });
}
