import { parseIP, type IPAddress } from "./ip-address.ts";

// What the IANA registries of special-purpose addresses (RFC 6890) list as not globally reachable, with multicast,
// documentation and benchmarking.
const specialIPv4 = [
  block("0.0.0.0", 8),
  block("10.0.0.0", 8),
  block("100.64.0.0", 10),
  block("127.0.0.0", 8),
  // Assigned, but inside of Azure it is the host of the virtual machine.
  block("168.63.129.16", 32),
  block("169.254.0.0", 16),
  block("172.16.0.0", 12),
  block("192.0.0.0", 24),
  block("192.0.2.0", 24),
  block("192.88.99.0", 24),
  block("192.168.0.0", 16),
  block("198.18.0.0", 15),
  block("198.51.100.0", 24),
  block("203.0.113.0", 24),
  block("224.0.0.0", 4),
  block("240.0.0.0", 4),
];

// Of IPv6, only 2000::/3 is assigned for use on the Internet (RFC 4291, 2.4). Outside of it, too, are the prefixes
// behind which a private IPv4 address may be reached (`64:ff9b::/96` of NAT64, `::/96`); 6to4 (`2002::/16`) is inside.
const globalUnicast = block("2000::", 3);
const specialIPv6 = [
  block("2001::", 23),
  block("2001:db8::", 32),
  block("2002::", 16),
  block("3fff::", 20),
];

/**
 * Whether an address belongs to the public Internet: not to this machine, a private network, a link or a group, and not
 * reserved. This is the check against requests that are forged to reach internal services (SSRF). An IPv4 address that
 * is mapped to IPv6 counts as the IPv4 address; a text that is not an address is not public.
 */
export function isPublicAddress(address: string | IPAddress): boolean {
  const parsed = typeof address === "string" ? parseIP(address) : address;
  if (parsed === undefined) return false;
  const isIn = (candidate: Block): boolean => contains(candidate, parsed);
  if (parsed.version === 4) return !specialIPv4.some(isIn);
  return isIn(globalUnicast) && !specialIPv6.some(isIn);
}

interface Block {
  readonly words: IPAddress["words"];
  /** Length of the prefix, of the 128 bits of {@link IPAddress.words}. */
  readonly bits: number;
}

function block(text: string, prefix: number): Block {
  const address = parseIP(text);
  if (address === undefined) throw new TypeError(`${text} is not an address`);
  return { words: address.words, bits: address.version === 4 ? prefix + 96 : prefix };
}

function contains({ words, bits }: Block, address: IPAddress): boolean {
  return words.every((word, index) => {
    const count = Math.min(32, Math.max(0, bits - index * 32));
    return count === 0 || word >>> (32 - count) === (address.words[index] ?? 0) >>> (32 - count);
  });
}
