import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler } from "../../handler.ts";
import { NodeExchange, type NodeRuntime } from "../exchange/node-exchange.ts";
import { failExchange } from "../exchange/send-error.ts";
import { sendResponse } from "../exchange/send-response.ts";
import { HostCheck } from "../request/host-check.ts";
import { isBehindAnother, startInTurn } from "../request/pipelining.ts";
import { ReceivedRequest } from "../request/received-request.ts";
import { isBehindRefusal, refuse } from "../request/reject-request.ts";
import {
  findRejection,
  isServerWide,
  readHead,
  type RequestHead,
} from "../request/request-head.ts";

/** What Node calls for each request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes Node's listener of a handler. Each request gets one exchange and one response, even if the handler fails. */
export function exchangeListener(handler: Handler, runtime: NodeRuntime): NodeListener {
  const hosts = new HostCheck();
  return (request, response) => {
    if (isBehindRefusal(request)) return;
    const head = readHead(request, hosts);
    const rejection = findRejection(request, head, runtime);
    if (rejection !== undefined) {
      refuse(request, response, rejection);
    } else if (isServerWide(request)) {
      respondForServer(response, runtime);
    } else if (isBehindAnother(request, response)) {
      startInTurn(response, () => handle(request, response, head));
    } else {
      handle(request, response, head);
    }
  };

  function handle(request: IncomingMessage, response: ServerResponse, head: RequestHead): void {
    const received = new ReceivedRequest(request, response, head, runtime);
    const exchange = new NodeExchange(runtime, { request, response }, received, head.hasBody);
    let result: Response | Promise<Response>;
    try {
      result = handler(received, exchange.context);
    } catch (error) {
      failExchange(exchange, error);
      return;
    }
    if (isThenable(result)) {
      Promise.resolve(result).then(
        (settled) => sendResponse(exchange, settled),
        (error: unknown) => failExchange(exchange, error),
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
