/** Host and port of the URL of a request; lower case, and without the port when it is the scheme's own. */
export function hostOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}
