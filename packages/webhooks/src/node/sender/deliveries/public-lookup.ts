import type { LookupAddress, LookupAllOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "@fetchwork/kit";
import { WebhookUsageError } from "../../../errors.ts";

/** Finds all addresses of a name, as `lookup` of `node:dns` does. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Makes a lookup for connections that refuses names of which any address is not public. */
export function publicLookup(lookup: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new Error("no address"), "", 0);
      } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
        // One private address is enough, because any of them may be used.
        callback(notPublic(), "", 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

/** Makes the error for a target that is not public. */
export function notPublic(): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_TARGET", "the target's address is not public");
}
