import { parseIP, type IPAddress } from "./ip-address.ts";
import { isInRange, parseIPRange, type IPRange } from "./ip-range.ts";

// What the IANA registries of special-purpose addresses (RFC 6890) list as not globally reachable, with multicast,
// documentation and benchmarking.
const specialIPv4 = ranges(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Assigned, but inside of Azure it is the host of the virtual machine.
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

// Of IPv6, only 2000::/3 is assigned for use on the Internet (RFC 4291, 2.4). Outside of it, too, are the prefixes
// behind which a private IPv4 address may be reached (`64:ff9b::/96` of NAT64, `::/96`); 6to4 (`2002::/16`) is inside.
const globalUnicast = ranges("2000::/3");
const specialIPv6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

/**
 * Whether an address belongs to the public Internet: not to this machine, a private network, a link or a group, and not
 * reserved. This is the check against requests that are forged to reach internal services (SSRF). An IPv4 address that
 * is mapped to IPv6 counts as the IPv4 address; a text that is not an address is not public.
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
