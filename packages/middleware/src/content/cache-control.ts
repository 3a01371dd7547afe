import type { Context, Handler, Middleware } from "@fetchwork/http";
import { changeHeaders, empty, setDefault } from "@fetchwork/http/responses";
import { checkFunction, optionError } from "../check-options.ts";
import { etagMatches } from "./etag-matches.ts";
import { shortHash } from "../runtime/short-hash.ts";
import { place } from "../order.ts";

/** Returns the version of what a request asks for: of the application, of a row, of a folder. */
type VersionFunction = (request: Request, context: Context) => string;

/**
 * Lets clients cache responses, and responds with 304 to those that have the current one, without
 * calling the handler.
 *
 * Sets `ETag`, made of version and URL, and `Cache-Control: max-age=<maxAge>, no-cache`, each only
 * where the handler set none, and not on a status of 400 or more: with a tag a stored error would
 * be confirmed until the version changes. An `If-None-Match` of a GET or HEAD that has the tag gets
 * 304. Only the handler can judge a request that also has `If-Match` or `If-Unmodified-Since`. `*`
 * is left to the handler as well.
 *
 * All else that a response depends on, such as the user, must be part of the version.
 *
 * @param maxAge - In seconds; a fraction is dropped.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when `maxAge` is negative or not finite, or the
 * version is not a text
 */
export function cacheControl(maxAge: number, version: string): Middleware {
  if (typeof version !== "string") throw optionError("version", version, "text");
  return revalidate(maxAge, () => version);
}

/**
 * Sets what {@link cacheControl} sets, with a version that depends on the request. A function that
 * throws fails the request.
 *
 * @param maxAge - In seconds; a fraction is dropped.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when `maxAge` is negative or not finite, or
 * `version` is not a function
 */
export function cacheControlDynamic(maxAge: number, version: VersionFunction): Middleware {
  checkFunction(version, "version");
  return revalidate(maxAge, version);
}

function revalidate(maxAge: number, version: VersionFunction): Middleware {
  if (typeof maxAge !== "number" || !Number.isFinite(maxAge) || maxAge < 0)
    throw optionError("maxAge", maxAge, "a number of seconds of at least 0");
  const cacheControlValue = `max-age=${Math.floor(maxAge)}, no-cache`;
  const tags = new TagCache();

  return place("cacheControl", (next: Handler) => (request, context) => {
    const etag = tags.of(`${version(request, context)}:${request.url}`);
    if (isConfirmed(request, etag)) {
      return empty(304, { headers: { etag, "cache-control": cacheControlValue } });
    }
    const result = next(request, context);
    const after = (response: Response): Response =>
      response.status >= 400
        ? response
        : changeHeaders(response, context, (headers) => {
            setDefault(headers, "etag", etag);
            setDefault(headers, "cache-control", cacheControlValue);
          });
    return result instanceof Promise ? result.then(after) : after(result);
  });
}

function isConfirmed({ method, headers }: Request, etag: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const field = headers.get("if-none-match");
  if (field === null || !etagMatches(field, etag)) return false;
  return !headers.has("if-match") && !headers.has("if-unmodified-since");
}

// About a megabyte. A client that requests many different URLs costs a hash each and no memory.
const largestCache = 1000;
const longestKey = 512;

class TagCache {
  readonly #tags: Map<string, string> = new Map();

  of(key: string): string {
    const known = this.#tags.get(key);
    if (known !== undefined) return known;
    const tag = `"${shortHash(key)}"`;
    if (key.length > longestKey) return tag;
    if (this.#tags.size >= largestCache) {
      // The one that has been there longest.
      for (const oldest of this.#tags.keys()) {
        this.#tags.delete(oldest);
        break;
      }
    }
    this.#tags.set(key, tag);
    return tag;
  }
}
