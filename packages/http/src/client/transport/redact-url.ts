/** Writes a URL for messages and logs: no credentials, no fragment, `…` for query values. */
export function redactUrl(url: URL): string {
  if (url.search === "") return url.origin + url.pathname;
  const names = url.search
    .slice(1)
    .split("&")
    .map((pair) => {
      const end = pair.indexOf("=");
      // Without a name it is a value, such as a token that is the whole query.
      return end === -1 ? "…" : `${pair.slice(0, end)}=…`;
    });
  return `${url.origin}${url.pathname}?${names.join("&")}`;
}
