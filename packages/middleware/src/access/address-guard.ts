import type { Context } from "@fetchwork/http";
import { checkFlag, optionError } from "../check-options.ts";
import { ipMatcher } from "../address/ip-matcher.ts";
import { clientAddressReader, type RealIPOptions } from "../address/client-address.ts";

/** Options for what only listed addresses may access. */
export interface AddressGuardOptions extends RealIPOptions {
  /**
   * Addresses, ranges and prefixes of addresses that have access; see {@link ipMatcher}. Default:
   * none, which refuses all clients.
   */
  readonly addresses?: readonly string[] | undefined;
  /** Allows all clients. Default: `false`. */
  readonly allowAll?: boolean | undefined;
}

/** Returns undefined for a permitted request, else the refused address (empty if unknown). */
export type AddressGuard = (request: Request, context: Context) => string | undefined;

/**
 * Makes a guard that refuses all clients by default.
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
