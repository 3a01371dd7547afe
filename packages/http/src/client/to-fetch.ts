import { HttpUsageError } from "../errors.ts";
import type { Handler } from "../handler.ts";
import type { Client } from "./client.ts";
import { redactUrl } from "./transport/redact-url.ts";
import { RedirectError } from "./transport/transport-errors.ts";

/**
 * Makes a handler of a client, so that middlewares wrap it: `retry`, `timeout`, `bearer` and
 * `trace` of `@fetchwork/middleware`, or your own. It accepts a `Request`, streams its body, and
 * returns a `Response` whose body streams; failures are transport errors.
 *
 * @example
 * ```ts
 * const api = wrap(toFetch(client), bearer(() => readToken()));
 * const response = await api(new Request("https://api.example.com/users"));
 * ```
 * @throws HttpUsageError `ERR_HTTP_OPTION` when it is not a client
 */
export function toFetch(client: Client): (request: Request) => Promise<Response> {
  if (typeof client?.stream !== "function") {
    throw new HttpUsageError("ERR_HTTP_OPTION", "toFetch needs a Client");
  }
  const handler = async (request: Request): Promise<Response> => {
    const { method, url, headers, body, redirect, signal } = request;
    const response = await client.stream(
      { method, baseUrl: url, headers, body },
      { signal, ...(redirect === "follow" ? {} : { redirect: false }) },
    );
    if (
      redirect === "error" &&
      response.statusCode >= 300 &&
      response.statusCode < 400 &&
      response.header("location") !== undefined
    ) {
      await response.cancel();
      const details = { method, url: redactUrl(new URL(url)) };
      throw new RedirectError("redirected, which the request forbids", details);
    }
    return response.toResponse();
  };
  return handler satisfies Handler;
}
