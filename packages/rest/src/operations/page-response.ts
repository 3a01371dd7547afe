import { empty, text } from "@fetchwork/http";
import { contentTag, noneMatchHolds } from "../etag.ts";
import type { ResourceCall } from "../resource/call.ts";
import type { Found } from "./find-page.ts";

/**
 * Responds with a page: the body as JSON with `Link`, the count and an entity tag of the content;
 * 304 when the caller has the same.
 */
export function pageResponse(
  { request }: Pick<ResourceCall, "request">,
  page: Omit<Found, "documents">,
  rows: unknown,
): Response {
  const body = JSON.stringify(rows);
  const tag = contentTag(`${page.count ?? ""} ${page.link} ${body}`);
  const headers = pageHeaders(page, tag);
  if (noneMatchHolds(request.headers.get("if-none-match"), tag)) return empty(304, { headers });
  return text(body, { headers: { "content-type": "application/json", ...headers } });
}

/** The headers of a page: links, the count as far as known, and the weak entity tag. */
export function pageHeaders(
  { count, isCapped, isPartial = false, link }: Omit<Found, "documents">,
  etag: string,
): Record<string, string> {
  return {
    link,
    ...(count === undefined ? {} : { "x-total-count": String(count) }),
    ...(isCapped ? { "x-total-count-capped": "true" } : {}),
    ...(isPartial ? { "x-result-partial": "true" } : {}),
    etag: `W/${etag}`,
  };
}
