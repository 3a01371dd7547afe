/** What `Host` holds: plain is a host that the URL parser leaves as it is. */
export type HostKind = "invalid" | "plain" | "valid";

/** Hosts that can be in a URL as they are written: names, IPv4 addresses and IPv6 addresses, with or without a port. */
export const hostPattern: RegExp =
  /^(?:\[[A-Fa-f0-9:.]+\]|(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?)(?::\d{1,5})?$/;

const maxHosts = 256;
// A DNS name of 253 characters, a colon and a port.
const maxLength = 259;

/**
 * Finds out whether a value of `Host` makes a URL, so that `new URL(request.url)` never throws in a handler. What looks
 * like a host need not be one: `1.2.3.4.5`, `a:99999`, `[::1::2]`. Remembers some hosts, since most clients use the same
 * ones.
 */
export class HostCheck {
  readonly #known = new Map<string, HostKind>();

  kindOf(host: string): HostKind {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    const kind = findKind(host);
    if (host.length <= maxLength) {
      // A client that fills it with invented names costs others one parse each, and no memory.
      if (this.#known.size >= maxHosts) this.#known.clear();
      this.#known.set(host, kind);
    }
    return kind;
  }
}

function findKind(host: string): HostKind {
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}/`)) return "invalid";
  const isPlain = ["http", "https"].every(
    (scheme) => new URL(`${scheme}://${host}/`).host === host,
  );
  return isPlain ? "plain" : "valid";
}
