import { nameCheck } from "../../check-names.ts";
import { parseSetCookie, type SetCookie } from "./parse-set-cookie.ts";

/** Keeps cookies for a client; a {@link CookieJar} or anything else of this shape. */
export interface CookieStore {
  /** The `Cookie` field for a request to an absolute URL; empty when there are none. */
  header(url: string): string;
  /** Takes a `Set-Cookie` line of a response from an absolute URL. */
  set(line: string, url: string): void;
}

/** How a jar decides what it takes. */
export interface CookieJarOptions {
  /**
   * Whether anybody can register names below this one, such as `com`, `co.uk` or `github.io`: no cookie may be set
   * for all of those. Default: names without a dot, and common second levels of countries (`co.uk`, `com.au`); pass a
   * public suffix list when one jar serves hosts that do not trust each other.
   */
  readonly isPublicSuffix?: ((domain: string) => boolean) | undefined;
}

const checkNames = nameCheck<CookieJarOptions>({
  owner: "CookieJar",
  names: { isPublicSuffix: true },
});

interface StoredCookie extends SetCookie {
  readonly domain: string;
  readonly path: string;
  readonly hostOnly: boolean;
  readonly createdAt: number;
}

// RFC 6265bis, 6.1: the minimum that a jar must hold, and our maximum.
const mostPerDomain = 50;
const mostInAll = 3000;

/**
 * Keeps the cookies of an HTTP client as a browser would (RFC 6265bis): `Domain`, `Path`, `Secure`, `Max-Age`,
 * `Expires` and the prefixes `__Host-` and `__Secure-` count. `HttpOnly` and `SameSite` do not, because there are no
 * scripts and no pages. Cookies live in memory; a jar belongs to one user.
 *
 * @example
 * ```ts
 * const client = new Client({ cookies: new CookieJar() });
 * ```
 */
export class CookieJar implements CookieStore {
  readonly #isPublicSuffix: (domain: string) => boolean;
  /** In the order of creation. */
  readonly #cookies = new Map<string, StoredCookie>();

  constructor(options: CookieJarOptions = {}) {
    checkNames(options);
    this.#isPublicSuffix = options.isPublicSuffix ?? looksPublic;
  }

  /** Number of cookies. */
  get size(): number {
    return this.#cookies.size;
  }

  /**
   * Takes a `Set-Cookie` line of a response. One that is not allowed is ignored, as RFC 6265bis, 5.7, wants it.
   *
   * @param url - Absolute URL of the request.
   */
  set(line: string, url: string): void {
    const now = Date.now();
    const parsed = parseSetCookie(line, now);
    if (parsed === undefined || !URL.canParse(url)) return;
    const { hostname, pathname, protocol } = new URL(url);
    const isSecure = protocol === "https:" || isLocal(hostname);
    const domain = this.#domainFor(parsed, hostname);
    if (domain === undefined || !mayHave(parsed, isSecure)) return;
    const path = parsed.path ?? defaultPath(pathname);
    const hostOnly =
      parsed.domain === undefined || isAddress(hostname) || this.#isPublicSuffix(domain);
    const key = `${domain}\n${path}\n${parsed.name}\n${String(hostOnly)}`;
    const existing = this.#cookies.get(key);
    if (!isSecure && this.#wouldHide(parsed.name, domain, path)) return;
    if (parsed.expires !== undefined && parsed.expires <= now) {
      this.#cookies.delete(key);
      return;
    }
    const createdAt = existing?.createdAt ?? now;
    this.#cookies.set(key, { ...parsed, domain, path, hostOnly, createdAt });
    this.#evict(domain, now);
  }

  /** The `Cookie` field for a request; empty when there are none. Longer paths first (RFC 6265bis, 5.8.3). */
  header(url: string): string {
    if (this.#cookies.size === 0 || !URL.canParse(url)) return "";
    const { hostname, pathname, protocol } = new URL(url);
    const isSecure = protocol === "https:" || isLocal(hostname);
    const now = Date.now();
    return Array.from(this.#cookies.values())
      .filter(
        (cookie) =>
          (cookie.hostOnly ? cookie.domain === hostname : isWithin(hostname, cookie.domain)) &&
          isPathWithin(pathname, cookie.path) &&
          (isSecure || !cookie.secure) &&
          (cookie.expires === undefined || cookie.expires > now),
      )
      .toSorted((a, b) => b.path.length - a.path.length || a.createdAt - b.createdAt)
      .map(({ name, value }) => (name === "" ? value : `${name}=${value}`))
      .join("; ");
  }

  /** Forgets all cookies. */
  clear(): void {
    this.#cookies.clear();
  }

  /** Says how many there are, and never which. */
  toJSON(): { readonly size: number } {
    return { size: this.size };
  }

  /** The host that a cookie is for; undefined when it may not be set. */
  #domainFor({ domain }: SetCookie, hostname: string): string | undefined {
    if (domain === undefined || domain === hostname) return hostname;
    if (isAddress(hostname) || !isWithin(hostname, domain)) return undefined;
    return this.#isPublicSuffix(domain) ? undefined : domain;
  }

  /**
   * Whether a cookie of a plain connection would replace one that a secure connection has set, or stand before it
   * (RFC 6265bis, 5.7, step 16).
   */
  #wouldHide(name: string, domain: string, path: string): boolean {
    return Array.from(this.#cookies.values()).some(
      (cookie) =>
        cookie.secure &&
        cookie.name === name &&
        (isWithin(domain, cookie.domain) || isWithin(cookie.domain, domain)) &&
        isPathWithin(path, cookie.path),
    );
  }

  #evict(domain: string, now: number): void {
    const ofDomain: string[] = [];
    for (const [key, cookie] of this.#cookies) {
      if (cookie.expires !== undefined && cookie.expires <= now) this.#cookies.delete(key);
      else if (cookie.domain === domain) ofDomain.push(key);
    }
    if (ofDomain.length > mostPerDomain) this.#cookies.delete(ofDomain[0] ?? "");
    const [oldest] = this.#cookies.keys();
    if (this.#cookies.size > mostInAll && oldest !== undefined) this.#cookies.delete(oldest);
  }
}

/** Whether the attributes allow the name (RFC 6265bis, 4.1.3 and 5.7). */
function mayHave({ name, value, secure, path, domain }: SetCookie, isSecure: boolean): boolean {
  if (secure && !isSecure) return false;
  // A cookie without a name can pretend to have one: `=__Host-x=1`.
  const shown = (name === "" ? value : name).toLowerCase();
  if (shown.startsWith("__secure-")) return secure && name !== "";
  if (shown.startsWith("__host-")) {
    return secure && name !== "" && path === "/" && domain === undefined;
  }
  return true;
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && !isAddress(host));
}

function isPathWithin(path: string, wanted: string): boolean {
  if (path === wanted) return true;
  return path.startsWith(wanted) && (wanted.endsWith("/") || path[wanted.length] === "/");
}

function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}

/** Traffic that does not leave the machine counts as secure, as in browsers. */
function isLocal(host: string): boolean {
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  );
}

function looksPublic(domain: string): boolean {
  return (
    !domain.includes(".") ||
    /^(?:ac|co|com|edu|gob|gov|go|gouv|mil|ne|net|nom|or|org)\.[a-z]{2}$/.test(domain)
  );
}
