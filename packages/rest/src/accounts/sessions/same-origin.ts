/**
 * Whether a request comes from a page of the same origin, by what browsers send and pages cannot
 * forge: `Sec-Fetch-Site` (Fetch Metadata), in older ones `Origin`. A page that is opened from the
 * address bar counts too, for reading. By HTTPS, a page without it is of another origin.
 */
export function isSameOrigin(
  { headers, method, url }: Request,
  { isSecure }: { readonly isSecure: boolean },
): boolean {
  const isReading = method === "GET" || method === "HEAD";
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || (site === "none" && isReading);
  const origin = headers.get("origin");
  if (origin === null) return isReading;
  const host = headers.get("host") ?? new URL(url).host;
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && (!isSecure || page.protocol === "https:");
}
