import type { Context, Middleware } from "@fetchwork/http";
import { changeHeaders, empty } from "@fetchwork/http/responses";
import { encodeBase64 } from "@fetchwork/kit";
import { replaceBody, takeResponse, type TakenResponse } from "../body/replace-body.ts";
import { readIfSmall } from "../body/stream-start.ts";
import { checkAmount, checkFlag, checkOptions } from "../check-options.ts";
import { builtinModule } from "../runtime/platform.ts";
import { etagMatches } from "./etag-matches.ts";
import { place } from "../order.ts";

/** Options of {@link etag}. */
export interface EtagOptions {
  /**
   * Whether the tag is strong: equal tags promise equal bytes (RFC 9110, 8.8.3). Only right when
   * nothing outside, also no proxy, changes the body. Default: `false`.
   */
  readonly strong?: boolean | undefined;
  /** Maximum size of a body that is hashed, in bytes. Larger bodies get no tag. Default: 1 MiB. */
  readonly maxSize?: number | undefined;
}

/**
 * Adds an `ETag` made of the body to responses with status 200 to GET and HEAD. Responds with 304
 * when the request's `If-None-Match` has it. It saves bytes and not work, because the handler runs;
 * `cacheControl` with a version saves both.
 *
 * The tag is weak by default: a compressor or a proxy outside changes the bytes. Two codings of a
 * resource must not share a strong tag (RFC 9110, 8.8.3.3). So the tag never holds for `If-Match`.
 *
 * Bodies that are known whole are hashed: `json()`, `text()`, and a `Response` of text or bytes.
 * Streams that are not ready, events, bodies over the limit and responses of HEAD without a body
 * pass unchanged. An `ETag` of the handler stays, and is compared. Place it inside `compress` and
 * authentication.
 *
 * @example
 * ```ts
 * wrap(handler, compress(), etag());
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function etag(options: EtagOptions = {}): Middleware {
  checkOptions("etag", options, ["strong", "maxSize"]);
  const { strong = false, maxSize = 1_048_576 } = options;
  checkFlag(strong, "strong");
  checkAmount(maxSize, "maxSize", 0);
  const prefix = strong ? "" : "W/";

  return place("etag", (next) => (request, context) => {
    const result = next(request, context);
    if (request.method !== "GET" && request.method !== "HEAD") return result;
    const after = (response: Response): Response | Promise<Response> => {
      if (response.status !== 200) return response;
      if (response.headers.has("etag")) return confirm(request, context, response);
      if (!mayHash(response, maxSize)) return response;
      const tagged = tagBody(takeResponse(response), prefix, maxSize);
      return tagged instanceof Promise
        ? tagged.then((made) => confirm(request, context, made))
        : confirm(request, context, tagged);
    };
    return result instanceof Promise ? result.then(after) : after(result);
  });
}

function mayHash({ headers }: Response, maxSize: number): boolean {
  if (headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") === true) {
    return false;
  }
  const length = headers.get("content-length");
  return length === null || Number(length) <= maxSize;
}

function tagBody(
  taken: TakenResponse,
  prefix: string,
  maxSize: number,
): Response | Promise<Response> {
  const { headers, body } = taken;
  if (body instanceof ReadableStream) {
    if (body.locked) return replaceBody(taken, body, headers);
    return readIfSmall(body, maxSize + 1).then((found) =>
      "bytes" in found
        ? tagBody({ ...taken, body: found.bytes }, prefix, maxSize)
        : replaceBody(taken, found.stream, headers),
    );
  }
  if (body === null || body.length > maxSize) return replaceBody(taken, body, headers);
  const finish = (hash: string): Response => {
    headers.set("etag", `${prefix}"${hash}"`);
    return replaceBody(taken, body, headers);
  };
  const hash = hashOf(body);
  return typeof hash === "string" ? finish(hash) : hash.then(finish);
}

/** Turns the response into a 304 when the client has it (RFC 9110, 13.1.2 and 15.4.5). */
function confirm(request: Request, context: Context, response: Response): Response {
  const tag = response.headers.get("etag");
  const field = request.headers.get("if-none-match");
  if (tag === null || field === null) return response;
  if (field.trim() !== "*" && !etagMatches(field, tag)) return response;
  // These are evaluated first, and only the handler can.
  if (request.headers.has("if-match") || request.headers.has("if-unmodified-since")) {
    return response;
  }
  const { headers, body } = takeResponse(response);
  if (body instanceof ReadableStream && !body.locked) body.cancel().catch(() => undefined);
  return changeHeaders(empty(304), context, (kept) => {
    for (const [name, value] of headers) {
      if (name.startsWith("content-") && !keptNames.has(name)) continue;
      kept.append(name, value);
    }
  });
}

/** Headers that are not about the body, in spite of their names. */
const keptNames: ReadonlySet<string> = new Set([
  "content-location",
  "content-security-policy",
  "content-security-policy-report-only",
]);

interface CryptoModule {
  readonly createHash: (algorithm: "sha1") => {
    update(body: string | Uint8Array): { digest(encoding: "base64url"): string };
  };
}

/** SHA-1 is the cheapest hash that all runtimes have; nothing here has to withstand an attacker. */
function hashOf(body: string | Uint8Array<ArrayBuffer>): string | Promise<string> {
  const { createHash } = builtinModule<CryptoModule>("node:crypto") ?? {};
  if (createHash !== undefined) return createHash("sha1").update(body).digest("base64url");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return crypto.subtle
    .digest("SHA-1", bytes)
    .then((digest) => encodeBase64(new Uint8Array(digest)));
}
