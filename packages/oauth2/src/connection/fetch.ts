/**
 * Sends requests: a `fetch`, or a handler with middlewares around it (`wrap(fetch, retry())`).
 * It is called with a `Request` whose redirects are `manual`, and must not follow them.
 */
export type Fetch = (request: Request) => Response | Promise<Response>;

/** Wraps what sends requests. */
export type FetchMiddleware = (next: Fetch) => Fetch;
