import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler } from "../../handler.ts";
import { NodeExchange, type NodeRuntime } from "../exchange/node-exchange.ts";
import { sendError } from "../exchange/send-error.ts";
import { sendResponse } from "../exchange/send-response.ts";
import { isPipelined, neverStart, startWhenSent } from "../request/pipelining.ts";
import { isAfterRejection, rejectRequest } from "../request/reject-request.ts";
import {
  findRejection,
  HostCheck,
  isServerWide,
  readHead,
  type RequestHead,
} from "../request/request-head.ts";

/** Listener that Node calls for each request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes Node's listener: one exchange and one response, even if the handler fails. */
export function requestListener(handler: Handler, runtime: NodeRuntime): NodeListener {
  const hosts = new HostCheck();
  return (request, response) => {
    if (isAfterRejection(request)) {
      neverStart(response);
      return;
    }
    const head = readHead(request, hosts);
    const rejection = findRejection(request, head, runtime);
    if (rejection !== undefined) {
      rejectRequest(request, response, rejection);
    } else if (isServerWide(request)) {
      respondForServer(response, runtime);
    } else if (isPipelined(request, response)) {
      startWhenSent(response, () => handle(request, response, head));
    } else {
      handle(request, response, head);
    }
  };

  function handle(request: IncomingMessage, response: ServerResponse, head: RequestHead): void {
    const exchange = new NodeExchange(runtime, request, response, head);
    let result: Response | Promise<Response>;
    try {
      result = handler(exchange.received, exchange.context);
    } catch (error) {
      sendError(exchange, error);
      return;
    }
    if (isThenable(result)) {
      Promise.resolve(result).then(
        (settled) => sendResponse(exchange, settled),
        (error: unknown) => sendError(exchange, error),
      );
    } else {
      sendResponse(exchange, result);
    }
  }
}

/** Responds to `OPTIONS *`: there is a server, and nothing more can be said about it. */
function respondForServer(response: ServerResponse, { isClosing }: NodeRuntime): void {
  if (isClosing) response.shouldKeepAlive = false;
  response.writeHead(204);
  response.end();
}

function isThenable(value: unknown): value is Promise<Response> {
  return typeof value === "object" && value !== null && "then" in value;
}
