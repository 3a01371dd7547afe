import { deriveRequest, setDefault, type Middleware } from "@fetchwork/http";
import { changeResult } from "@fetchwork/http/responses";
import { checkHeaderValue, checkOptions } from "../check-options.ts";

/** Options of {@link noCache}. */
export interface NoCacheOptions {
  /**
   * Value of `Expires`. Default: `Thu, 01 Jan 1970 00:00:00 UTC`, which every cache takes for the
   * past, though a date of HTTP ends in `GMT`; `0` is as good (RFC 9111, 5.3).
   */
  readonly expires?: string | undefined;
}

const conditions = [
  "etag",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
] as const;
const withoutConditions = {
  headers: Object.fromEntries(conditions.map((name) => [name, null])),
};

/**
 * Keeps proxies and clients from caching: removes the conditions from the request, so that the
 * handler always responds in full. Sets `Cache-Control`, `Expires`, `Pragma` and `X-Accel-Expires`,
 * each only where the handler set none.
 *
 * Its `Cache-Control` has `no-transform`, so `gzip` and `compress` leave such a response as it is.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when `expires` cannot be sent
 */
export function noCache(options: NoCacheOptions = {}): Middleware {
  checkOptions("noCache", options, ["expires"]);
  const { expires = "Thu, 01 Jan 1970 00:00:00 UTC" } = options;
  checkHeaderValue(expires, "expires");
  const change = (headers: Headers): void => {
    setDefault(headers, "expires", expires);
    setDefault(
      headers,
      "cache-control",
      "no-cache, no-store, no-transform, must-revalidate, private, max-age=0",
    );
    setDefault(headers, "pragma", "no-cache");
    setDefault(headers, "x-accel-expires", "0");
  };
  return (next) => (request, context) => {
    const { headers } = request;
    const isConditional = conditions.some((name) => headers.has(name));
    const result = next(
      isConditional ? deriveRequest(request, withoutConditions) : request,
      context,
    );
    return changeResult(result, context, change);
  };
}
