// srvx's grammar of `Host`: what it does not match has no place in a URL.
const hostPattern = /^(?:\[[A-Fa-f0-9:.]+\]|(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?)(?::\d{1,5})?$/;

const maxHosts = 256;
// A DNS name of 253 characters, a colon and a port.
const maxLength = 259;

/**
 * Tells whether a value of `Host` makes a URL, so that `new URL(request.url)` never throws in a handler. What looks
 * like a host need not be one: `1.2.3.4.5`, `a:99999`, `[::1::2]`. Remembers a few hosts, since clients mostly use
 * the same ones.
 */
export class HostCheck {
  readonly #known = new Map<string, boolean>();

  isValid(host: string): boolean {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    const isValid = hostPattern.test(host) && URL.canParse(`http://${host}/`);
    if (host.length <= maxLength) {
      // Whoever fills it with names of his own costs others one parse each, and no memory.
      if (this.#known.size >= maxHosts) this.#known.clear();
      this.#known.set(host, isValid);
    }
    return isValid;
  }
}
