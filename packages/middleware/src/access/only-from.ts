import type { Middleware } from "@fetchwork/http";
import { encodeJSON } from "../json/encode-json.ts";
import { ipMatcher } from "../address/ip-matcher.ts";
import { clientAddressReader, type RealIPOptions } from "../address/client-address.ts";
import { checkCalled, checkOptions } from "../check-options.ts";
import { place } from "../order.ts";

/** Options of {@link onlyFrom}. */
export interface OnlyFromOptions extends RealIPOptions {
  /** Permitted addresses, ranges, prefixes; see {@link ipMatcher}. Empty: all pass. */
  readonly addresses: readonly string[];
}

/**
 * Lets only listed addresses pass; see {@link ipMatcher} for the rules. Without rules all requests
 * pass.
 *
 * The address is what {@link getRealIP} finds: that of `realIp` around it, or of the headers that
 * {@link RealIPOptions} names. **A client can send these headers itself**: set `trustedProxies`,
 * here or in `realIp`.
 *
 * Responds with 403 and `{"error":"ip \"1.2.3.4\" rejected"}`; 500 when the connection has no
 * address.
 *
 * @example
 * ```ts
 * onlyFrom("10.0.0.0/8", "192.168.", "2001:db8::1");
 * onlyFrom({ addresses: ["203.0.113.7"], trustedProxies: ["127.0.0.1"] });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function onlyFrom(...rules: readonly string[]): Middleware;
export function onlyFrom(options: OnlyFromOptions): Middleware;
export function onlyFrom(...args: readonly (string | OnlyFromOptions)[]): Middleware {
  checkCalled("onlyFrom", args[0]);
  const options = optionsOf(args);
  checkOptions("onlyFrom", options, ["addresses", "trustedProxies", "headers"]);
  const { addresses, ...addressOptions } = options;
  const isListed = ipMatcher(addresses);
  const read = clientAddressReader(addressOptions);
  if (addresses.length === 0) return (next) => next;
  return place("onlyFrom", (next) => (request, context) => {
    const address = read(request, context);
    if (address === undefined) {
      return encodeJSON(500, { error: "can't get realip: no valid ip found" });
    }
    if (isListed(address)) return next(request, context);
    return encodeJSON(403, { error: `ip "${address}" rejected` });
  });
}

function optionsOf(args: readonly (string | OnlyFromOptions)[]): OnlyFromOptions {
  const [first] = args;
  if (typeof first === "object" && first !== null && !Array.isArray(first)) return first;
  // `ipMatcher` refuses rules that are not strings.
  return { addresses: args as readonly string[] };
}
