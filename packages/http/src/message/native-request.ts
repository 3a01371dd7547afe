/**
 * Gives the platform's own `Request` for one that only looks like it: what {@link deriveRequest} made, or what a
 * server on Node hands to a handler. Needed for `fetch(request)`, `new Request(request)` and whatever else looks
 * behind the interface. Takes the body along: read it from one of the two, not from both.
 *
 * A platform's request is returned as it is.
 *
 * @throws TypeError when the method is one that no `Request` may have, such as `TRACE`
 */
export function nativeRequest(request: Request): Request {
  if (!("_request" in request)) return request;
  // srvx and we keep the platform's request under this name and make it on first use.
  const native = request._request;
  return native instanceof Request ? nativeRequest(native) : request;
}
