import { createContextKey, type Context, type ContextKey } from "@fetchwork/http";
import { parseIP, type IPAddress } from "@fetchwork/kit";
import { optionError } from "../check-options.ts";
import { addressOfNode, parseForwarded, parseForwardedFor } from "./forwarded.ts";
import { rangeMatcher } from "./range-matcher.ts";
import { isNonPrivateAddress } from "./non-private-address.ts";
import { parsePeer, spell } from "./peer-address.ts";

/** A header that can name the address of a client. */
export type ClientAddressHeader =
  "x-real-ip" | "cf-connecting-ip" | "x-forwarded-for" | "forwarded";

/** Options of `realIp` and `getRealIP`. */
export interface RealIPOptions {
  /**
   * Addresses and ranges (CIDR) of your own proxies, such as `["10.0.0.0/8"]`. A header then counts
   * only when the connection comes from one of them. Where the nearest entry of a list is not an
   * address, that of the connection is the client's. An empty list trusts no header. Default: every
   * client is trusted, which is safe only behind a proxy that sets or removes all of
   * {@link RealIPOptions.headers}.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Headers to look at, in this order; the first that names a client counts. List exactly those
   * that the proxy sets. Default: `x-real-ip`, `cf-connecting-ip`, `x-forwarded-for`; with
   * `trustedProxies`, `x-forwarded-for` comes first, because proxies add to it, while they often
   * pass the others through.
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

/** Finds the address of a client; see `getRealIP`. */
export type ClientAddressReader = (request: Request, context: PeerHolder) => string | undefined;

/** Holder of the other end of the connection: a context, or an object with its address. */
export type PeerHolder = Context | Pick<Context, "peer">;

/** Set once `realIp` has found the client's address. */
export const decidedKey: ContextKey<true> = createContextKey<true>("real ip");

/** Whether `realIp`, or a runtime that knows the client, has set its address. */
function isDecided(context: Context): boolean {
  return context.get(decidedKey) === true || context.ip !== context.peer;
}

/** Reads the address from the connection and the headers. */
export function addressReader(options: RealIPOptions): ClientAddressReader {
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
      // The proxy wrote this list. Where it is invalid, the other headers may come from the client.
      if (isList(header)) break;
    }
    return peer.text;
  };
}

/** Prepares `getRealIP` for many requests: how middlewares find a client's address. */
export function clientAddressReader(options: RealIPOptions): ClientAddressReader {
  const read = addressReader(options);
  if (options.trustedProxies !== undefined || options.headers !== undefined) return read;
  return (request, context) => {
    if (!("get" in context) || !isDecided(context)) return read(request, context);
    const { ip } = context;
    return ip === undefined ? undefined : parsePeer(ip)?.text;
  };
}

/** Address of a client for a record about it; see `getRealIP`. */
export const readClientAddress: ClientAddressReader = clientAddressReader({});

function checkHeaders(headers: unknown): void {
  if (!Array.isArray(headers)) throw optionError("headers", headers, "a list of headers");
  for (const header of headers as readonly unknown[]) {
    if (!knownHeaders.has(header)) {
      throw optionError("headers", header, [...knownHeaders].map(String).join(", "));
    }
  }
}

/** Trusts every header, as the specification requires; only public addresses count. */
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
 * Walks from the nearest proxy outwards. The first address that is not a trusted proxy is the
 * client; everything beyond it is what the client claims. An entry that is not an address ends the
 * walk at the last known proxy. Some proxies add the client's port to its address.
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
  // The others have one entry only: the address of a proxy there does not identify the client.
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
