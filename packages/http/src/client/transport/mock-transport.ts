import { checkFunction } from "../../exchange/check-function.ts";
import type { Handler } from "../../handler.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { WebTransport, type WebExchange } from "./web-transport.ts";
import { runHandler } from "../../exchange/wrap.ts";

/**
 * Responds to requests with a handler in the same process: an application of one's own, or a
 * function of a test. Limits in time and size, aborts, redirects and everything else of a client
 * work as over a network.
 *
 * @example
 * ```ts
 * const api = new Client({ transport: mockTransport(() => json({ id: 1 })) });
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` when it is not a function
 */
export function mockTransport(handler: Handler): Transport {
  checkFunction(handler, "handler");
  const exchange: WebExchange = async ({ method, url, headers }, sent) => {
    const response = await runHandler(handler, requestOf({ method, url, headers }, sent));
    return method === "HEAD" ? new Response(null, response) : response;
  };
  return new WebTransport(exchange, { decodes: false });
}

function requestOf(
  { method, url, headers }: Pick<TransportRequest, "method" | "url" | "headers">,
  { body, signal }: { readonly body: TransportRequest["body"]; readonly signal: AbortSignal },
): Request {
  // A `Request` refuses some methods, and a body with GET and HEAD, which the network does not.
  const isAllowed =
    !/^(?:CONNECT|TRACE|TRACK)$/.test(method) &&
    (body === undefined || !/^(?:GET|HEAD)$/.test(method));
  const init: RequestInit & { duplex?: "half" } = { method: isAllowed ? method : "POST", signal };
  if (body !== undefined) init.body = body as BodyInit;
  if (body instanceof ReadableStream) init.duplex = "half";
  const request = new Request(url, init);
  if (!isAllowed) Object.defineProperty(request, "method", { value: method });
  request.headers.delete("content-type");
  for (let index = 0; index < headers.length; index += 2) {
    request.headers.append(headers[index] ?? "", headers[index + 1] ?? "");
  }
  return request;
}
