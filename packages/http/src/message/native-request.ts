/**
 * Returns the platform's `Request` for a request that only has its interface: one that {@link
 * deriveRequest} made, or that `serve` passed to a handler. `fetch` and `new Request` accept no
 * others. Takes the body over: read the body of one of the two requests, not of both.
 *
 * Returns a platform's request as it is.
 *
 * @example
 * ```ts
 * // For handlers that pass their request on. It makes a request two thirds more expensive.
 * const native: Middleware = (next) => (request, context) => next(nativeRequest(request), context);
 * ```
 * @throws TypeError when the method is one that no `Request` may have, such as `TRACE`
 */
export function nativeRequest(request: Request): Request {
  if (!("_request" in request)) return request;
  const native = request._request;
  return native instanceof Request ? nativeRequest(native) : request;
}
