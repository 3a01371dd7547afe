import { formatIP, networkAddress } from "@fetchwork/kit";
import { parsePeer } from "../address/peer-address.ts";

/**
 * Removes from an address what identifies one client: the last number of IPv4 (`12.34.56.78` is `12.34.56.0`, also when
 * IPv6 maps it), all but the first 48 bits of IPv6, a port and a zone. Text that is not an address stays.
 */
export function anonymizeIP(ip: string): string {
  const peer = parsePeer(ip);
  if (peer === undefined) return ip;
  const { address } = peer;
  return formatIP(networkAddress(address, address.version === 4 ? 24 : 48));
}
