const loopback = /^(?:localhost|[^.]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Tells whether tokens and keys may go over this URL: `https`, or `http` that does not leave the machine (RFC 8252, 8.3),
 * and without user and password.
 */
export function isSecureUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && loopback.test(url.hostname));
}

/** Like {@link isSecureUrl}, and `http` to any host: for a network that is protected by other means. */
export function isHttpUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || url.protocol === "http:";
}
