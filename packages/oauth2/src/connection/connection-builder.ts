import { optionError } from "../errors.ts";
import type { Fetch, FetchMiddleware } from "./fetch.ts";
import type { BodyEncoding } from "../message/request-body.ts";

/** Customizes the connection of a client; given to the function that its constructor takes. */
export interface ConnectionBuilder {
  /** Chooses how objects are sent as bodies. Default: `url_encoded`. */
  request(encoding: BodyEncoding): this;
  /** Puts a middleware around what sends; the first is the outermost. */
  use(middleware: FetchMiddleware): this;
  /** Chooses what sends. Default: the `fetch` of the platform. */
  adapter(fetch: Fetch): this;
}

/** Runs the function that customizes a connection; `fetch` is `undefined` for the platform's. */
export function buildConnection(
  fetch: Fetch | undefined,
  build: ((connection: ConnectionBuilder) => void) | undefined,
): Record<"fetch" | "adapter", Fetch | undefined> & { readonly encoding: BodyEncoding } {
  let encoding: BodyEncoding = "url_encoded";
  let adapter: Fetch | undefined;
  const middlewares: FetchMiddleware[] = [];
  const builder: ConnectionBuilder = {
    request(chosen) {
      if (chosen !== "url_encoded" && chosen !== "json") {
        throw optionError("the request encoding", chosen, "url_encoded or json");
      }
      encoding = chosen;
      return builder;
    },
    use(middleware) {
      if (typeof middleware !== "function") {
        throw optionError("a middleware", typeof middleware, "a function");
      }
      middlewares.push(middleware);
      return builder;
    },
    adapter(chosen) {
      if (typeof chosen !== "function")
        throw optionError("the adapter", typeof chosen, "a function");
      adapter = chosen;
      return builder;
    },
  };
  build?.(builder);
  const sender = adapter ?? fetch;
  if (middlewares.length === 0) return { encoding, adapter, fetch: sender };
  const innermost: Fetch = sender ?? ((request) => globalThis.fetch(request));
  const outermost = middlewares.reduceRight((next, middleware) => middleware(next), innermost);
  return { encoding, adapter, fetch: outermost };
}
