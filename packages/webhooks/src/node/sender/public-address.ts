import { BlockList, isIP } from "node:net";

// What the IANA registries of special-purpose addresses (RFC 6890) list as not globally reachable, with multicast,
// documentation, benchmarking and the translation prefixes behind which a private IPv4 address may stand.
const special = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Given out, but inside of Azure it is the virtual machine's host.
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  special.addSubnet(address, bits, "ipv4");
}

// Of IPv6, only 2000::/3 is given out for use on the Internet (RFC 4291, 2.4), less these parts of it.
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");
const specialV6 = new BlockList();
for (const [address, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  specialV6.addSubnet(address, bits, "ipv6");
}

/**
 * Tells whether an address is one of the public Internet: not of this machine, a private network, a link, a group, or
 * reserved. Anything that is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4");
    case 6:
      return globalUnicast.check(address, "ipv6") && !specialV6.check(address, "ipv6");
    default:
      return false;
  }
}

/** Whether a URL has an address for its host, and one that is not public. */
export function hasPrivateAddress({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && !isPublicAddress(host);
}
