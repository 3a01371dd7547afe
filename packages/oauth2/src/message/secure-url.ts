import { isLoopbackHost } from "@fetchwork/kit";

/**
 * Tells whether tokens and keys may go over this URL: `https`, or `http` that does not leave the
 * machine (RFC 8252, 8.3), and without user and password.
 */
export function isSecureUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

/**
 * Makes the check of the URLs that the owner of another URL names. An owner at `https` may not lead
 * to `http` on this machine: there is a service of someone else, which trusts everything that can
 * reach it.
 */
export function urlCheckFor(owner: URL, allowInsecure = false): (url: URL) => boolean {
  if (allowInsecure) return isHttpUrl;
  return owner.protocol === "http:"
    ? isSecureUrl
    : (url) => url.protocol === "https:" && isSecureUrl(url);
}

/** Like {@link isSecureUrl}, and `http` to any host: for networks protected by other means. */
export function isHttpUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || url.protocol === "http:";
}
