import { accessTokenField } from "./access-token.ts";

/** One page of a list. */
export interface Page {
  readonly page: number;
  readonly limit: number;
  /** Documents on all pages together. */
  readonly total: number;
}

/**
 * Makes the `Link` header of a page (RFC 8288): first, prev, next and last, as far as there are such pages.
 *
 * The targets are relative to the origin and keep the other parameters of the request, but never its token.
 */
export function pageLinks(path: string, parameters: URLSearchParams, at: Page): string {
  const last = Math.max(1, Math.ceil(at.total / at.limit));
  const links: [relation: string, page: number][] = [["first", 1]];
  if (at.page > 1) links.push(["prev", Math.min(at.page - 1, last)]);
  if (at.page < last) links.push(["next", at.page + 1]);
  links.push(["last", last]);

  const others = new URLSearchParams(parameters);
  for (const name of [accessTokenField, "page", "limit"]) others.delete(name);
  const kept = others.size > 0 ? `${others.toString()}&` : "";
  return links
    .map(([relation, page]) => `<${path}?${kept}page=${page}&limit=${at.limit}>; rel="${relation}"`)
    .join(", ");
}
