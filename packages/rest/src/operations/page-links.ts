import { accessTokenField } from "../access-token.ts";

/** One page of a list. */
export interface PageWindow {
  readonly page: number;
  readonly limit: number;
  /** Documents on all pages together; `undefined` when they were not all counted. */
  readonly total: number | undefined;
  /** Without `total`: whether there is a next page. Default: `false`. */
  readonly hasNext?: boolean | undefined;
}

/**
 * Makes the `Link` header of a page (RFC 8288): first, prev, next and last, as far as there are
 * such pages and, for the last, as far as it is known.
 *
 * The targets are relative to the origin and keep the other parameters of the request, but never
 * its token.
 */
export function pageLinks(path: string, parameters: URLSearchParams, at: PageWindow): string {
  const { hasNext = false, limit, page, total } = at;
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / limit));
  const links: [relation: string, page: number][] = [["first", 1]];
  if (page > 1) links.push(["prev", last === undefined ? page - 1 : Math.min(page - 1, last)]);
  if (last === undefined ? hasNext : page < last) links.push(["next", page + 1]);
  if (last !== undefined) links.push(["last", last]);
  const base = `${path}?${kept(parameters)}`;
  return links
    .map(([relation, number]) => `<${base}page=${number}&limit=${limit}>; rel="${relation}"`)
    .join(", ");
}

/** One page of a list that is paged by cursors. */
export interface CursorPage {
  readonly limit: number;
  /** Cursor of the next page; `undefined` on the last one. */
  readonly next: string | undefined;
}

/** Makes the `Link` header of a page behind a cursor: first, and next as long as there is one. */
export function cursorLinks(
  path: string,
  parameters: URLSearchParams,
  { limit, next }: CursorPage,
): string {
  const base = `${path}?${kept(parameters)}after=`;
  const end = `&limit=${limit}`;
  const first = `<${base}${end}>; rel="first"`;
  return next === undefined
    ? first
    : `${first}, <${base}${encodeURIComponent(next)}${end}>; rel="next"`;
}

function kept(parameters: URLSearchParams): string {
  if (parameters.size === 0) return "";
  const others = new URLSearchParams(parameters);
  for (const name of [accessTokenField, "page", "limit", "after"]) others.delete(name);
  return others.size > 0 ? `${others.toString()}&` : "";
}
