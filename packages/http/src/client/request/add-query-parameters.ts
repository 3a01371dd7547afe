/** A value of a query parameter; a list repeats the name, `undefined` and `null` leave it out. */
export type QueryParameterValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly (string | number | bigint | boolean)[];

/** Query parameters by name. */
export type QueryParameters = Readonly<Record<string, QueryParameterValue>>;

/**
 * Adds query parameters to a URL: sorted by name, form-encoded (a space is `+`), after what the URL
 * has, before its fragment. The URL itself is not checked, and not changed otherwise.
 *
 * @example
 * ```ts
 * addQueryParameters("https://api.example.com/x?a=1", { tag: ["p", "q"], page: 2 });
 * // https://api.example.com/x?a=1&page=2&tag=p&tag=q
 * ```
 */
export function addQueryParameters(baseUrl: string, queryParameters: QueryParameters): string {
  const query = encodeQuery(queryParameters);
  if (query === "") return baseUrl;
  const hash = baseUrl.indexOf("#");
  const url = hash === -1 ? baseUrl : baseUrl.slice(0, hash);
  const fragment = hash === -1 ? "" : baseUrl.slice(hash);
  const separator = !url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&";
  return url + separator + query + fragment;
}

function encodeQuery(parameters: QueryParameters): string {
  const names = Object.keys(parameters);
  if (names.length > 1) names.sort();
  let query = "";
  for (const name of names) {
    const value = parameters[name];
    if (value === undefined || value === null) continue;
    if (typeof value === "object") {
      for (const item of value) query += pair(name, String(item));
    } else {
      query += pair(name, String(value));
    }
  }
  return query.slice(1);
}

function pair(name: string, value: string): string {
  return `&${encode(name)}=${encode(value)}`;
}

const unreserved = /^[\w.~-]*$/;

/** Percent-encodes all but unreserved characters (RFC 3986, 2.3); lone surrogate: U+FFFD. */
function encode(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
