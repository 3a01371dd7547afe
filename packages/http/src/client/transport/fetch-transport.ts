import { optionError } from "../../option-values.ts";
import { ProtocolError, RedirectError } from "./transport-errors.ts";
import { redactUrl } from "./redact-url.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { WebTransport, type WebExchange } from "./web-transport.ts";

/** The part of `fetch` that {@link fetchTransport} needs. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Carries requests with a `fetch`, which may be one that other libraries have wrapped.
 *
 * It has the limits of `fetch`: GET and HEAD have no body. Values of a header that came several
 * times arrive as one (but for `Set-Cookie`). The time to connect counts for `timeout.headers`.
 * Pages in browsers do not see redirects, so these need `redirect: false` with a `fetch` that
 * follows them.
 *
 * @param fetch - Default: the platform's, looked up for each request.
 * @throws HttpUsageError `ERR_HTTP_OPTION` when it is not a function
 */
export function fetchTransport(fetch?: FetchFunction): Transport {
  if (fetch !== undefined && typeof fetch !== "function") {
    throw optionError("fetch", fetch, "a function");
  }
  const exchange: WebExchange = async (request, { body, signal }) => {
    const { method, url } = request;
    const details = { method, url: redactUrl(url) };
    if (body !== undefined && (method === "GET" || method === "HEAD")) {
      throw new ProtocolError(`the platform's fetch sends no body with ${method}`, details);
    }
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: pairs(request),
      redirect: "manual",
      signal,
    };
    // `BodyInit` wants bytes in a buffer that is not shared; `fetch` itself refuses the other.
    if (body !== undefined) init.body = body as BodyInit;
    if (body instanceof ReadableStream) init.duplex = "half";
    const response = await (fetch ?? globalThis.fetch)(url.href, init);
    if (response.type === "opaqueredirect") {
      throw new RedirectError("the platform does not show where the redirect leads", details);
    }
    return response;
  };
  return new WebTransport(exchange, { decodes: true });
}

function pairs({ headers, body }: TransportRequest): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    // A stream is sent in chunks, whatever its length is.
    if (name === "content-length" && body instanceof ReadableStream) continue;
    list.push([name, headers[index + 1] ?? ""]);
  }
  return list;
}
