import type { IPAddress } from "@fetchwork/kit";

/**
 * Whether an address in a header can be that of a client, as the specification has it for RealIP:
 * not private (RFC 1918, RFC 4193), shared (RFC 6598), for benchmarks (RFC 2544), of the link, of
 * the host or of a group. Documentation and reserved ranges can. To prevent forged requests (SSRF),
 * use `isPublicAddress` of `@fetchwork/kit`.
 */
export function isNonPrivateAddress({ version, words }: IPAddress): boolean {
  return version === 4 ? isNonPrivateIPv4(words[3]) : isNonPrivateIPv6(words);
}

function isNonPrivateIPv4(word: number): boolean {
  const first = word >>> 24;
  const second = (word >>> 16) & 255;
  if (word === 0 || word === 0xffffffff || first === 10 || first === 127) return false;
  if (first >= 224 && first <= 239) return false;
  if (first === 100) return second < 64 || second > 127;
  if (first === 169) return second !== 254;
  if (first === 172) return second < 16 || second > 31;
  if (first === 192) return second !== 168;
  if (first === 198) return second !== 18 && second !== 19;
  return true;
}

function isNonPrivateIPv6(words: IPAddress["words"]): boolean {
  const [first, second, third, fourth] = words;
  if (first === 0 && second === 0 && third === 0 && fourth <= 1) return false;
  const start = first >>> 16;
  const isUniqueLocal = (start & 0xfe00) === 0xfc00;
  const isLinkLocal = (start & 0xffc0) === 0xfe80;
  const isMulticast = (start & 0xff00) === 0xff00;
  return !isUniqueLocal && !isLinkLocal && !isMulticast;
}
