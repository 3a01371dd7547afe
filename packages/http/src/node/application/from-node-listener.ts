import type { IncomingMessage, ServerResponse } from "node:http";
import { checkFunction } from "../../exchange/check-function.ts";
import type { Handler } from "../../handler.ts";
import { writeEarlyHints } from "../exchange/node-messages.ts";
import { createApplicationRequest } from "./application-request.ts";
import { createApplicationResponse } from "./application-response.ts";
import { ApplicationSocket } from "./application-socket.ts";

/** A listener of `http.createServer`: Express, `koa.callback()`, `fastify.routing`. */
export type NodeApplication = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Makes a handler of a Node application, so that middlewares can wrap it.
 *
 * The application gets a request and a response that are made for it, with or without a server:
 * bodies stream both ways with backpressure, middlewares can still change the headers,
 * `flushHeaders()` takes effect at once, and a client that leaves closes both.
 * `req.socket.remoteAddress` is {@link Context.ip}. Trailers are dropped, and an upgrade is not
 * possible. When the application fails before the head, the handler rejects; after it, the body
 * fails. A request body that fails, for example because it is too large, is an `error` of the
 * application's request; an application that does not listen for it has failed.
 *
 * @example
 * ```ts
 * const handler = wrap(fromNodeListener(express()), logger());
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` when the listener is not a function
 */
export function fromNodeListener(listener: NodeApplication): Handler {
  checkFunction(listener, "listener");
  return (request, context) => {
    const socket = new ApplicationSocket(context.ip, new URL(request.url).protocol);
    const nodeRequest = createApplicationRequest(request, context, {
      socket,
      onUnhandledError: (error) => fail(error),
    });
    const { response, webResponse, fail } = createApplicationResponse(nodeRequest, socket);
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
      return webResponse;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    response.once("close", () => signal.removeEventListener("abort", onAbort));
    try {
      Promise.resolve(listener(nodeRequest, response)).catch(fail);
    } catch (error) {
      fail(error);
    }
    return webResponse;
  };
}

/** The error that Node reports to an application whose client has left. */
function resetError(cause: unknown): Error {
  return Object.assign(new Error("aborted", { cause }), { code: "ECONNRESET" });
}
