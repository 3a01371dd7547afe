/**
 * Whether a host is this machine: `localhost`, a name under `.localhost` (RFC 6761, 6.3), an
 * address of `127.0.0.0/8`, or `::1`, with or without brackets. The network does not see what goes
 * there (RFC 8252, 8.3).
 *
 * @param hostname - In lower case, like the `hostname` of a `URL`, which also has short forms such
 * as `127.1` written out.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(hostname);
}
