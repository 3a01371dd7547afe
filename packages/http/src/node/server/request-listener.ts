import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest } from "srvx/node";
import { deriveRequest } from "../../message/derive-request.ts";
import { HttpUsageError } from "../../errors.ts";
import type { Handler } from "../../handler.ts";
import { NodeExchange, type NodeRuntime } from "../exchange/node-exchange.ts";
import { failExchange } from "../exchange/send-error.ts";
import { findRefusal, isStar, readFraming } from "../request/check-head.ts";
import { HostCheck } from "../request/host-check.ts";
import { isBehindAnother, startInTurn } from "../request/pipelining.ts";
import { isBehindRefusal, refuse } from "../request/reject-request.ts";
import { sendResponse } from "../exchange/send-response.ts";

/** What Node calls for each request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes Node's listener of a handler: every request gets one exchange and one answer, whatever happens. */
export function exchangeListener(handler: Handler, runtime: NodeRuntime): NodeListener {
  const limits = { runtime, hosts: new HostCheck() };
  return (request, response) => {
    if (isBehindRefusal(request)) return;
    const framing = readFraming(request);
    const refusal = findRefusal(request, framing, limits);
    if (refusal !== undefined) {
      refuse(request, response, refusal);
      return;
    }
    if (isStar(request)) {
      answerStar(response, runtime);
      return;
    }
    const { hasBody } = framing;
    if (!isBehindAnother(request, response)) handle(request, response, hasBody);
    else startInTurn(response, () => handle(request, response, hasBody));
  };

  function handle(request: IncomingMessage, response: ServerResponse, hasBody: boolean): void {
    const web = new NodeRequest({
      req: request,
      res: response,
      ...(runtime.maxRequestBodySize === undefined
        ? undefined
        : { maxRequestBodySize: runtime.maxRequestBodySize }),
    });
    const readable = hasBody && isTaken(request) ? withoutBody(web) : web;
    const exchange = new NodeExchange(runtime, { request, response }, readable, hasBody);
    let result: Response | Promise<Response>;
    try {
      result = handler(readable, exchange.context);
    } catch (error) {
      failExchange(exchange, error);
      return;
    }
    if (isThenable(result)) {
      Promise.resolve(result).then(
        (answer) => sendResponse(exchange, answer),
        (error: unknown) => failExchange(exchange, error),
      );
    } else {
      sendResponse(exchange, result);
    }
  }
}

/** Whether somebody in front has read the body, and left it in no place where srvx finds it. */
function isTaken(request: IncomingMessage): boolean {
  if (!request.readableDidRead) return false;
  return !("rawBody" in request && Buffer.isBuffer(request.rawBody));
}

/** A request whose body cannot be read any more, with an error that says why. */
function withoutBody(request: Request): Request {
  const body = new ReadableStream(
    {
      pull(controller) {
        controller.error(
          new HttpUsageError(
            "ERR_HTTP_BODY_USED",
            "the body was already read, for example by express.json(): put toNodeListener() before the parser",
          ),
        );
      },
    },
    { highWaterMark: 0 },
  );
  const headers = Object.fromEntries(
    ["content-length", "transfer-encoding"].flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return deriveRequest(request, { body, headers });
}

/** Answers `OPTIONS *`: there is a server, and that is all that can be said of it. */
function answerStar(response: ServerResponse, { isClosing }: NodeRuntime): void {
  if (isClosing) response.shouldKeepAlive = false;
  response.writeHead(204);
  response.end();
}

function isThenable(value: unknown): value is Promise<Response> {
  return typeof value === "object" && value !== null && "then" in value;
}
