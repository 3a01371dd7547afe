import { parseIP, type IPAddress } from "./ip-address.ts";

/** Addresses that share their first bits. */
export interface IPRange {
  /** The first address of the range; its version is 4 also inside `::ffff:0:0/96` (mapped). */
  readonly start: IPAddress;
  /** One bit for each bit that an address of the range shares with `start`. */
  readonly mask: IPAddress["words"];
}

/**
 * Reads a range in CIDR notation (RFC 4632, RFC 4291, 2.3), such as `10.0.0.0/8` or
 * `2001:db8::/32`; an address without a prefix length is the range of itself. Bits after the prefix
 * are dropped. Everything else is `undefined`; the address is read as strictly as {@link parseIP}
 * does.
 */
export function parseIPRange(text: string): IPRange | undefined {
  const [, address = "", prefix] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const parsed = parseIP(address);
  if (parsed === undefined) return undefined;
  const isIPv6 = address.includes(":");
  const length = prefix === undefined ? undefined : Number(prefix);
  if (length !== undefined && length > (isIPv6 ? 128 : 32)) return undefined;
  const bits = length === undefined ? 128 : isIPv6 ? length : length + mappedBits;
  // A shorter prefix of a mapped address covers more than IPv4, so it is a range of IPv6.
  const version = bits < mappedBits ? 6 : parsed.version;
  const mask = maskOf(bits);
  return { start: { version, words: and(parsed.words, mask) }, mask };
}

/**
 * Whether an address is in a range. An address of one version is never in a range of the other:
 * `::/0` holds no IPv4 address. A mapped IPv4 address is IPv4.
 */
export function isInRange({ version, words }: IPAddress, { start, mask }: IPRange): boolean {
  return (
    version === start.version &&
    (words[3] & mask[3]) >>> 0 === start.words[3] &&
    (words[2] & mask[2]) >>> 0 === start.words[2] &&
    (words[1] & mask[1]) >>> 0 === start.words[1] &&
    (words[0] & mask[0]) >>> 0 === start.words[0]
  );
}

/**
 * Returns the first address of the network that an address belongs to: its bits after the prefix
 * are zero.
 *
 * @param prefix - Length of the prefix: 0 to 32 for IPv4, 0 to 128 for IPv6.
 */
export function networkAddress({ version, words }: IPAddress, prefix: number): IPAddress {
  return { version, words: and(words, maskOf(version === 4 ? prefix + mappedBits : prefix)) };
}

/** Bits of `::ffff:0:0/96`, before those of the IPv4 address. */
const mappedBits = 96;

type Words = IPAddress["words"];

function and([a, b, c, d]: Words, mask: Words): Words {
  return [(a & mask[0]) >>> 0, (b & mask[1]) >>> 0, (c & mask[2]) >>> 0, (d & mask[3]) >>> 0];
}

/** Words of which the first `bits` of all 128 are set. */
function maskOf(bits: number): Words {
  return [maskWord(bits), maskWord(bits - 32), maskWord(bits - 64), maskWord(bits - 96)];
}

function maskWord(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffffffff : (0xffffffff << (32 - bits)) >>> 0;
}
