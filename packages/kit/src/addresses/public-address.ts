import { parseIP, type IPAddress } from "./ip-address.ts";
import { isInRange, parseIPRange, type IPRange } from "./ip-range.ts";

// IPv4 ranges that are not globally reachable by the IANA registry of special addresses (RFC 6890).
// Ranges for multicast, documentation and benchmarking are included.
const specialIPv4 = ranges(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Public, but inside Azure it is the host of the virtual machine.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
);

// Only 2000::/3 is assigned for the IPv6 Internet (RFC 4291, 2.4). Prefixes that can lead to a
// private IPv4 address are outside of it (`64:ff9b::/96` of NAT64, `::/96`), except 6to4
// (`2002::/16`).
const globalUnicast = ranges("2000::/3");
const specialIPv6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

/**
 * Whether an address belongs to the public Internet: it is not loopback, private, link-local,
 * multicast or reserved. This check prevents forged requests to internal services (SSRF). An IPv6
 * address that maps an IPv4 address is checked as IPv4. Text that is not an address is not public.
 */
export function isPublicAddress(address: string | IPAddress): boolean {
  const parsed = typeof address === "string" ? parseIP(address) : address;
  if (parsed === undefined) return false;
  const isIn = (range: IPRange): boolean => isInRange(parsed, range);
  if (parsed.version === 4) return !specialIPv4.some(isIn);
  return globalUnicast.some(isIn) && !specialIPv6.some(isIn);
}

function ranges(...texts: readonly string[]): readonly IPRange[] {
  return texts.map((text) => {
    const range = parseIPRange(text);
    if (range === undefined) throw new TypeError(`invalid range ${text}`);
    return range;
  });
}
