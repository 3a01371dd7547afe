import { formatIP, parseIP } from "@fetchwork/kit";

/**
 * Names the network of an address, which is what one client has for itself: an IPv4 address, or a /64 of IPv6, whose
 * owner has all addresses in it. Text that is not an address is returned as it is.
 */
export function networkOf(address: string): string {
  const parsed = parseIP(address.replace(/%.*$/, ""));
  if (parsed === undefined) return address;
  if (parsed.version === 4) return formatIP(parsed);
  const groups = parsed.words.slice(0, 2).flatMap((word) => [word >>> 16, word & 0xffff]);
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`;
}
