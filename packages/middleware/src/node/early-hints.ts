import { changeHeaders, setDefault, type Context, type Middleware } from "@fetchwork/http";
import { nodeMessages, writeEarlyHints } from "@fetchwork/http/serve";
import { checkHeaderValue, checkNext, optionError } from "../check-options.ts";

/** Values of `Link`, or a function that returns those of a request; empty for no hints. */
export type EarlyLinks =
  readonly string[] | ((request: Request, context: Context) => readonly string[] | undefined);

/**
 * Lets a browser load what a page needs while the page is being made: sends 103 Early Hints (RFC 8297) before the
 * handler runs, and the same `Link` with the response, unless the handler set one.
 *
 * Only `GET` over HTTP/1.1 and later gets hints. Where the server cannot send them, the response has the header
 * alone. Old clients may stumble over an interim response; `maybe` limits it, for instance to `Sec-Fetch-Mode:
 * navigate`.
 *
 * @example
 * ```ts
 * earlyHints(["</app.css>; rel=preload; as=style", "<https://cdn.example>; rel=preconnect"]);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for an invalid link; from a function, at the request
 */
export function earlyHints(links: EarlyLinks): Middleware {
  const fixed = typeof links === "function" ? undefined : checkLinks(links);
  return (next) => {
    checkNext("earlyHints", next);
    return (request, context) => {
      if (request.method !== "GET") return next(request, context);
      const sent =
        fixed ?? checkLinks((typeof links === "function" && links(request, context)) || []);
      if (sent.length === 0) return next(request, context);
      if (nodeMessages(context)?.request.httpVersion !== "1.0") writeEarlyHints(context, sent);
      const value = sent.join(", ");
      const change = (response: Response): Response =>
        changeHeaders(response, context, (headers) => setDefault(headers, "link", value));
      const result = next(request, context);
      return result instanceof Promise ? result.then(change) : change(result);
    };
  };
}

/** Node itself refuses other values, in the middle of a request. */
function checkLinks(links: unknown): readonly string[] {
  if (!Array.isArray(links)) throw optionError("links", links, "a list of Link values");
  return (links as readonly unknown[]).map((link) => {
    if (
      typeof link !== "string" ||
      !/^<[^<>\s]+>(?:\s*;\s*[a-z-]+(?:=(?:"[^"]*"|[^\s";,]+))?)*$/i.test(link)
    ) {
      throw optionError("links", link, "text such as </app.css>; rel=preload; as=style");
    }
    checkHeaderValue(link, "links");
    return link;
  });
}
