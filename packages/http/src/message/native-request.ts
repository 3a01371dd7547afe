/**
 * Returns the platform's `Request` for one that only has its interface: what {@link deriveRequest} made, or what a server
 * on Node passed to a handler. `fetch(request)` and `new Request(request)` need it. It takes the body over: read the body
 * from one of the two, not from both.
 *
 * A platform's request is returned as it is.
 *
 * @throws TypeError when the method is one that no `Request` may have, such as `TRACE`
 */
export function nativeRequest(request: Request): Request {
  if (!("_request" in request)) return request;
  const native = request._request;
  return native instanceof Request ? nativeRequest(native) : request;
}
