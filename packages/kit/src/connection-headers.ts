// Headers that proxies remove (RFC 9110, 7.6.1), without those that `Connection` names.
const names: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Whether a header describes one connection, so that it must not be copied to another one (RFC
 * 9110, 7.6.1).
 *
 * @param name - In lower case.
 */
export function isConnectionHeader(name: string): boolean {
  return names.has(name);
}
