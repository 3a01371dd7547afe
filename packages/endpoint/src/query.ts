import { operatorOf, writeVariable } from "./expression.ts";
import { encodeUnreserved, keepBrackets } from "./percent-encoding.ts";
import { scalarText } from "./scalar.ts";

/** How a list becomes query parameters: `a=1,2`, `a=1&a=2` or `a[]=1&a[]=2`. */
export type ArrayFormat = "comma" | "repeat" | "brackets";

/** How {@link queryParameter} writes. */
export interface QueryFormat {
  readonly arrayFormat: ArrayFormat;
  /** Parameters in whose values `+` stays unencoded. */
  readonly plusParameters?: readonly string[];
}

/** Writes a query parameter as `{?name}` does; nothing for `null` and for an empty list. */
export function queryParameter(
  name: string,
  value: unknown,
  { arrayFormat, plusParameters }: QueryFormat,
): string | undefined {
  if (value === null) return undefined;
  // Brackets stay: servers that read lists look for `a[]`.
  const label = keepBrackets(encodeUnreserved(name));
  const encode = plusParameters?.includes(name) ? encodeWords : encodeUnreserved;
  if (!Array.isArray(value)) return `${label}=${encode(scalarText(value, name))}`;
  return writeVariable(
    { ...operatorOf("&"), encode },
    {
      name: arrayFormat === "brackets" ? `${label}[]` : label,
      isExploded: arrayFormat !== "comma",
      prefix: 0,
    },
    value,
  );
}

/** Adds a query parameter to an URL, before its fragment (RFC 3986 section 3). */
export function appendQuery(url: string, query: string): string {
  const hash = url.indexOf("#");
  if (hash >= 0) return appendQuery(url.slice(0, hash), query) + url.slice(hash);
  return url + (!url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&") + query;
}

function encodeWords(text: string): string {
  return encodeUnreserved(text).replaceAll("%2B", "+");
}
