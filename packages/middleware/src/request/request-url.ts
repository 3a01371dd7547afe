/** Where the path of an absolute URL starts and ends; without query and fragment. */
export interface PathBounds {
  readonly start: number;
  readonly end: number;
}

/** Finds the path in a request's URL, which is absolute: it starts with a slash. */
export function pathBounds(url: string): PathBounds {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  const end = query === -1 ? url.length : query;
  const fragment = url.indexOf("#", start);
  return { start, end: fragment === -1 || fragment > end ? end : fragment };
}

/** Path of the URL of a request, percent-encoded as it came. */
export function pathOf(url: string): string {
  const { start, end } = pathBounds(url);
  return url.slice(start, end);
}

/** Path and query of a request's URL, without fragment: origin form (RFC 9112, 3.2.1). */
export function pathAndQueryOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const fragment = url.indexOf("#", start);
  return fragment === -1 ? url.slice(start) : url.slice(start, fragment);
}

/** Query of the URL of a request with its question mark, or an empty text. */
export function searchOf(url: string): string {
  const target = pathAndQueryOf(url);
  const query = target.indexOf("?");
  return query === -1 ? "" : target.slice(query);
}

/** Host and port of a request's URL, in lower case, without the scheme's default port. */
export function hostOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}
