import { BlockList, isIP } from "node:net";
import { isLoopbackHost } from "@fetchwork/kit";
import { optionError } from "../../option-values.ts";

/** Proxies as they were named, before anything is known about a request. */
export interface ProxyChoice {
  /** For `http:` targets. */
  readonly http: URL | undefined;
  /** For `https:` targets. */
  readonly https: URL | undefined;
  /** Whether a target is reached without a proxy. */
  readonly bypasses: (target: URL) => boolean;
}

/**
 * Reads `http_proxy`, `https_proxy` and `no_proxy`, in lower case before upper case. `HTTP_PROXY`
 * is ignored under CGI (`REQUEST_METHOD` is set), where the client of the server could set it by a
 * header. Loopback addresses are always reached directly.
 */
export function proxyFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): ProxyChoice {
  const read = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  const cgi = environment["REQUEST_METHOD"] !== undefined;
  const http = cgi ? environment["http_proxy"] || undefined : read("http_proxy");
  const https = read("https_proxy");
  const listed = bypassList(read("no_proxy") ?? "");
  return {
    http: http === undefined ? undefined : proxyUrl(http, "http_proxy"),
    https: https === undefined ? undefined : proxyUrl(https, "https_proxy"),
    bypasses: (target) => isLoopbackHost(hostOf(target)) || listed(target),
  };
}

/** Reads the URL of a proxy; `http:` if it has no scheme. The message never shows it. */
export function proxyUrl(text: string | URL, name: string): URL {
  const full = typeof text === "string" && !text.includes("://") ? `http://${text}` : String(text);
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw optionError(name, text, "the http: or https: URL of a proxy");
  }
  return url;
}

/**
 * Reads a `NO_PROXY` list, separated by commas or spaces: `*`, names (they and everything below
 * them, with or without a leading dot), `*.name` (only what is below), addresses, CIDR ranges; each
 * may end in `:port`, where it can be told from an address.
 */
export function bypassList(text: string): (target: URL) => boolean {
  const entries = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(readEntry);
  return (target) => {
    if (entries.length === 0) return false;
    const host = hostOf(target);
    const port = target.port === "" ? (target.protocol === "https:" ? "443" : "80") : target.port;
    return entries.some((entry) => (entry.port ?? port) === port && entry.matches(host));
  };
}

interface BypassEntry {
  readonly port: string | undefined;
  readonly matches: (host: string) => boolean;
}

function readEntry(entry: string): BypassEntry {
  const parts =
    /^\[([^\]]+)\](?::(\d+))?$/.exec(entry) ?? /^([^:]+):(\d+)$/.exec(entry) ?? undefined;
  const host = (parts?.[1] ?? entry).toLowerCase().replace(/(?<=.)\.$/, "");
  const port = parts?.[2];
  return { port, matches: matcher(host) };
}

function matcher(host: string): (target: string) => boolean {
  if (host === "*") return () => true;
  const slash = host.indexOf("/");
  const address = slash === -1 ? host : host.slice(0, slash);
  const family = isIP(address);
  if (family !== 0) {
    const bits = slash === -1 ? (family === 4 ? 32 : 128) : Number(host.slice(slash + 1));
    const wrong = !Number.isInteger(bits) || bits < 0 || bits > (family === 4 ? 32 : 128);
    if (wrong || host.endsWith("/")) return () => false;
    const list = new BlockList();
    list.addSubnet(address, bits, family === 4 ? "ipv4" : "ipv6");
    return (target) => {
      const kind = isIP(target);
      return kind !== 0 && list.check(target, kind === 4 ? "ipv4" : "ipv6");
    };
  }
  if (host.startsWith("*.")) return (target) => target.endsWith(host.slice(1));
  const name = host.replace(/^\./, "");
  return (target) => target === name || target.endsWith(`.${name}`);
}

function hostOf(target: URL): string {
  return target.hostname.replace(/^\[|\]$|(?<=.)\.$/g, "");
}
