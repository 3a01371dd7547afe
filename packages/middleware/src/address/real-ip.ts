import type { Middleware } from "@fetchwork/http";
import { checkOptions } from "../check-options.ts";
import {
  addressReader,
  clientAddressReader,
  decidedKey,
  type PeerHolder,
  type RealIPOptions,
} from "./client-address.ts";
import { place } from "../order.ts";

export type { RealIPOptions } from "./client-address.ts";

/**
 * Sets `context.ip` to the address of the client, for the handler and all inner middlewares.
 *
 * Without options it takes the first public address of `X-Real-IP`, `CF-Connecting-IP` and
 * `X-Forwarded-For` (there the leftmost), else the connection's address. **Every client can send
 * these headers**: without a proxy, or behind one that does not remove them, a client chooses its
 * own address. `trustedProxies` closes that.
 *
 * Without any address, `context.ip` does not change.
 *
 * @example
 * ```ts
 * const handler = wrap(routes, realIp({ trustedProxies: ["127.0.0.1", "10.0.0.0/8"] }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function realIp(options: RealIPOptions = {}): Middleware {
  checkOptions("realIp", options, ["trustedProxies", "headers"]);
  const read = addressReader(options);
  return place("realIp", (next) => (request, context) => {
    const address = read(request, context);
    if (address !== undefined) context.ip = address;
    context.set(decidedKey, true);
    return next(request, context);
  });
}

/**
 * Address of the client, as every middleware of this package understands it: with options, by
 * those; else `context.ip` if {@link realIp} or the runtime has set it; else as `realIp()` would
 * find it. `undefined` when the connection has none. The text is as it was spelled, except that an
 * IPv4 address mapped into IPv6 becomes IPv4.
 *
 * `context.ip` alone is the address of the connection, which clients cannot forge, until `realIp`
 * changes it.
 *
 * @param context - Has the address of the connection in `peer`; a port and an IPv6 zone are
 * dropped.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function getRealIP(
  request: Request,
  context: PeerHolder,
  options: RealIPOptions = {},
): string | undefined {
  checkOptions("getRealIP", options, ["trustedProxies", "headers"]);
  return clientAddressReader(options)(request, context);
}
