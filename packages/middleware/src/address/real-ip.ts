import { createContextKey, type Context, type Middleware } from "@fetchwork/http";
import { parseIP, type IPAddress } from "@fetchwork/kit";
import { checkOptions, optionError, type OptionNames } from "../check-options.ts";
import { addressOfNode, parseForwarded, parseForwardedFor } from "./forwarded.ts";
import { rangeMatcher } from "./ip-matcher.ts";
import { isNonPrivateAddress } from "./non-private-address.ts";
import { parsePeer, spell } from "./peer-address.ts";

/** A header that can name the address of a client. */
export type ClientAddressHeader =
  "x-real-ip" | "cf-connecting-ip" | "x-forwarded-for" | "forwarded";

/** Options of {@link realIp} and {@link getRealIP}. */
export interface RealIPOptions {
  /**
   * Addresses and ranges (CIDR) of one's own proxies, such as `["10.0.0.0/8"]`. A header then counts only when the
   * connection comes from one of them, and where the nearest entry of a list is no address, the connection's own is the
   * client's. An empty list trusts no header. Default: every client is believed, which is safe only behind a proxy that
   * sets or removes all of {@link RealIPOptions.headers}.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Headers to look at, in this order; the first that names a client counts. List exactly those that the proxy sets.
   * Default: `x-real-ip`, `cf-connecting-ip`, `x-forwarded-for`; with `trustedProxies`, `x-forwarded-for` comes first,
   * because proxies add to it, while they often pass the others through.
   */
  readonly headers?: readonly ClientAddressHeader[] | undefined;
}

const specOrder: readonly ClientAddressHeader[] = [
  "x-real-ip",
  "cf-connecting-ip",
  "x-forwarded-for",
];
const trustedOrder: readonly ClientAddressHeader[] = [
  "x-forwarded-for",
  "x-real-ip",
  "cf-connecting-ip",
];
const knownHeaders: ReadonlySet<unknown> = new Set([...specOrder, "forwarded"]);

/** Finds the address of a client; see {@link getRealIP}. */
export type ClientAddressReader = (request: Request, context: PeerHolder) => string | undefined;

/** What knows the other end of the connection: a context, or an object with its address. */
export type PeerHolder = Context | Pick<Context, "peer">;

/** Set once `realIp` has decided who the client is. */
const decidedKey = createContextKey<true>("real ip");

/**
 * Puts the address of the client into `context.ip`, for the handler and all middlewares inside that ask for it.
 *
 * Without options it takes the first public address of `X-Real-IP`, `CF-Connecting-IP` and `X-Forwarded-For` (there the
 * leftmost), else the address of the connection. **Everybody can send these headers**: behind no proxy, or one that
 * does not remove them, a client chooses its own address. `trustedProxies` closes that.
 *
 * When there is no address at all, `context.ip` stays as it is.
 *
 * @example
 * ```ts
 * const handler = wrap(routes, realIp({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function realIp(options: RealIPOptions = {}): Middleware {
  checkOptions(options, knownOptions("realIp"));
  const read = addressReader(options);
  return (next) => (request, context) => {
    const address = read(request, context);
    if (address !== undefined) context.ip = address;
    context.set(decidedKey, true);
    return next(request, context);
  };
}

/**
 * Address of the client, as every middleware of this package understands it: with options, by those; else `context.ip`
 * if {@link realIp} or the runtime has set it; else as `realIp()` would find it. `undefined` when the connection has none.
 * The text is as it was spelled, except that an IPv4 address mapped into IPv6 becomes IPv4.
 *
 * `context.ip` alone is the address of the connection, which nobody can forge, until `realIp` says otherwise.
 *
 * @param context - Has the address of the connection in `peer`; a port and an IPv6 zone are dropped.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function getRealIP(
  request: Request,
  context: PeerHolder,
  options: RealIPOptions = {},
): string | undefined {
  checkOptions(options, knownOptions("getRealIP"));
  return clientAddressReader(options)(request, context);
}

/** Whether `realIp`, or a runtime that knows more than we do, has said who the client is. */
function isDecided(context: Context): boolean {
  return context.get(decidedKey) === true || context.ip !== context.peer;
}

/** Reads the address from the connection and the headers. */
function addressReader(options: RealIPOptions): ClientAddressReader {
  const { trustedProxies, headers } = options;
  const order = headers ?? (trustedProxies === undefined ? specOrder : trustedOrder);
  checkHeaders(order);
  if (trustedProxies === undefined) return (request, context) => readOpen(request, context, order);
  const isTrusted = rangeMatcher(trustedProxies, "trustedProxies");
  return (request, context) => {
    const peer = parsePeer(context.peer);
    if (peer === undefined) return undefined;
    if (!isTrusted(peer.address)) return peer.text;
    for (const header of order) {
      const value = request.headers.get(header);
      if (value === null) continue;
      const found = readTrusted(header, value, isTrusted);
      if (found !== undefined) return found;
      // The proxy wrote this list; where nobody can read it, the other headers may be the client's own words.
      if (isList(header)) break;
    }
    return peer.text;
  };
}

/** Prepares {@link getRealIP} for many requests: the one way in which middlewares find the address of a client. */
export function clientAddressReader(options: RealIPOptions): ClientAddressReader {
  const read = addressReader(options);
  if (options.trustedProxies !== undefined || options.headers !== undefined) return read;
  return (request, context) => {
    if (!("get" in context) || !isDecided(context)) return read(request, context);
    const { ip } = context;
    return ip === undefined ? undefined : parsePeer(ip)?.text;
  };
}

/** Address of a client for a record about it; see {@link getRealIP}. */
export const readClientAddress: ClientAddressReader = clientAddressReader({});

function checkHeaders(headers: unknown): void {
  if (!Array.isArray(headers)) throw optionError("headers", headers, "a list of headers");
  for (const header of headers as readonly unknown[]) {
    if (!knownHeaders.has(header)) {
      throw optionError("headers", header, [...knownHeaders].map(String).join(", "));
    }
  }
}

/** Believes every header, as the specification says; only public addresses count. */
function readOpen(
  request: Request,
  context: PeerHolder,
  order: readonly ClientAddressHeader[],
): string | undefined {
  for (const header of order) {
    const value = request.headers.get(header);
    if (value === null) continue;
    for (const entry of entriesOf(header, value) ?? []) {
      const address = parseIP(entry);
      if (address !== undefined && isNonPrivateAddress(address)) return spell(entry, address);
    }
  }
  return parsePeer(context.peer)?.text;
}

/**
 * Walks from the nearest proxy outwards. The first address that is none of ours is the client; everything beyond it is
 * what the client claims. An entry that is no address ends the walk at the last proxy that is known. Some proxies add
 * the client's port to its address.
 */
function readTrusted(
  header: ClientAddressHeader,
  value: string,
  isTrusted: (address: IPAddress) => boolean,
): string | undefined {
  const entries = entriesOf(header, value) ?? [];
  let nearest: string | undefined;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index] ?? "";
    const text = parseIP(entry) === undefined ? addressOfNode(entry) : entry;
    const address = text === undefined ? undefined : parseIP(text);
    if (text === undefined || address === undefined) break;
    nearest = spell(text, address);
    if (!isTrusted(address)) return nearest;
  }
  // The others name the last hop only: a proxy's own address there says nothing about the client.
  return isList(header) ? nearest : undefined;
}

/** Whether every proxy on the way adds an entry. */
function isList(header: ClientAddressHeader): boolean {
  return header === "x-forwarded-for" || header === "forwarded";
}

function entriesOf(header: ClientAddressHeader, value: string): readonly string[] | undefined {
  if (header === "x-forwarded-for") return parseForwardedFor(value);
  if (header !== "forwarded") return [value.trim()];
  return parseForwarded(value)?.map((element) => addressOfNode(element.get("for") ?? "") ?? "");
}

function knownOptions(owner: string): OptionNames<RealIPOptions> {
  return {
    owner,
    names: { trustedProxies: true, headers: true },
    otherNames: {
      trustProxy: "trustedProxies",
      trustProxies: "trustedProxies",
      trusted: "trustedProxies",
      proxies: "trustedProxies",
      order: "headers",
    },
  };
}
