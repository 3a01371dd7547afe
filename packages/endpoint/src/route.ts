import { boundedCache } from "./bounded-cache.ts";
import { fail } from "./errors.ts";
import { isToken } from "./headers.ts";

/** The parts of a route. */
export interface Route {
  readonly method?: string;
  readonly url: string;
}

/**
 * Splits `<METHOD> <url>`, or takes an url alone. Spaces around either do not count.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_TEMPLATE` for a route without an url.
 */
export const splitRoute: (route: unknown) => Route = /* @__PURE__ */ boundedCache(
  (route: string): Route => {
    const text = route.trim();
    const space = text.indexOf(" ");
    const method = text.slice(0, space);
    if (space > 0 && isToken(method)) return { method, url: text.slice(space).trimStart() };
    // "GET" and "GET " lack their url; as an url they would ask for something else than was meant.
    if (/^[A-Z]*$/.test(text)) fail("ERR_ENDPOINT_TEMPLATE", "the route has no url");
    return { url: text };
  },
);
