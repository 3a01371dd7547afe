import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest } from "srvx/node";
import type { Handler } from "../handler.ts";
import { NodeExchange, type NodeRuntime } from "./exchange.ts";
import { failExchange, refuse } from "./fail-exchange.ts";
import { sendResponse } from "./send-response.ts";

/** What Node calls for each request. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes Node's listener of a handler: every request gets one exchange and one answer, whatever happens. */
export function exchangeListener(handler: Handler, runtime: NodeRuntime): NodeListener {
  return (request, response) => {
    const framing = readFraming(request);
    if (isRefused(request, response, framing, runtime)) return;
    const web = new NodeRequest({
      req: request,
      res: response,
      ...(runtime.maxRequestBodySize === undefined
        ? undefined
        : { maxRequestBodySize: runtime.maxRequestBodySize }),
    });
    const exchange = new NodeExchange(runtime, { request, response }, web, framing.hasBody);
    let result: Response | Promise<Response>;
    try {
      result = handler(web, exchange.context);
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
  };
}

interface Framing {
  readonly hosts: number;
  readonly host: string;
  readonly hasBody: boolean;
  readonly length: number;
}

/** Looks through the header lines once; Node's own parsed `headers` cost more and hide repeated lines. */
function readFraming(request: IncomingMessage): Framing {
  const { rawHeaders } = request;
  let hosts = 0;
  let host = "";
  let hasBody = false;
  let length = 0;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1];
    if (name === undefined || value === undefined) continue;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts += 1;
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      hasBody = true;
      length = Number(value);
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      hasBody = true;
    }
  }
  return { hosts, host, hasBody, length };
}

// srvx's grammar of `Host`: what it does not match has no place in a URL.
const hostPattern = /^(?:\[[A-Fa-f0-9:.]+\]|(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?)(?::\d{1,5})?$/;

function isRefused(
  request: IncomingMessage,
  response: ServerResponse,
  framing: Framing,
  runtime: NodeRuntime,
): boolean {
  // RFC 9112, 3.2: exactly one Host, and a valid one. It may be empty when the target has no authority.
  if (framing.hosts > 1 || (framing.host !== "" && !hostPattern.test(framing.host))) {
    refuse(request, response, 400, "Bad Request");
    return true;
  }
  if (
    request.httpVersionMajor === 2 &&
    runtime.maxHeaderSize !== undefined &&
    request.rawHeaders.join().length > runtime.maxHeaderSize
  ) {
    refuse(request, response, 431, "Request Header Fields Too Large");
    return true;
  }
  const target = request.url ?? "/";
  if (!target.startsWith("/") && target !== "*" && !isAbsoluteTarget(target)) {
    refuse(request, response, 400, "Bad Request");
    return true;
  }
  // No `Request` can have this method (Fetch, 2.2.1).
  if (request.method === "TRACE") {
    refuse(request, response, 501, "Not Implemented");
    return true;
  }
  if (runtime.maxRequestBodySize !== undefined && framing.length > runtime.maxRequestBodySize) {
    refuse(request, response, 413, "Content Too Large");
    return true;
  }
  return false;
}

function isAbsoluteTarget(target: string): boolean {
  return /^https?:\/\//i.test(target) && URL.canParse(target);
}

function isThenable(value: unknown): value is Promise<Response> {
  return typeof value === "object" && value !== null && "then" in value;
}
