import type { Context } from "@fetchwork/http";
import { checkFlag, optionError } from "../check-options.ts";
import { ipMatcher } from "../address/ip-matcher.ts";
import { clientAddressReader, type RealIPOptions } from "../address/client-address.ts";

/** Options of what only listed addresses may see. */
export interface AddressGuardOptions extends RealIPOptions {
  /**
   * Addresses, ranges and starts of addresses that may see it; see {@link ipMatcher}. Default: none, so nobody does.
   */
  readonly addresses?: readonly string[] | undefined;
  /** Lets everybody see it. Default: `false`. */
  readonly allowAll?: boolean | undefined;
}

/** Gives `undefined` for a request that may pass, else the address that may not, empty when there is none. */
export type AddressGuard = (request: Request, context: Context) => string | undefined;

/**
 * Makes a guard that is closed unless it is opened.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function addressGuard(options: AddressGuardOptions): AddressGuard {
  const { addresses = [], allowAll = false, trustedProxies, headers } = options;
  checkFlag(allowAll, "allowAll");
  if (allowAll && addresses.length > 0) {
    throw optionError("allowAll", allowAll, "either allowAll or addresses");
  }
  const isListed = ipMatcher(addresses);
  const read = clientAddressReader({ trustedProxies, headers });
  return (request, context) => {
    if (allowAll) return undefined;
    const address = read(request, context);
    if (address === undefined) return "";
    return isListed(address) ? undefined : address;
  };
}
