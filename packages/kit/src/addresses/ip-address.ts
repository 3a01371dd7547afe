/**
 * An address as four 32-bit words. An IPv4 address has the words of the IPv6 address that maps it
 * (`::ffff:a.b.c.d`, RFC 4291, 2.5.5.2), so `1.2.3.4` and `::ffff:1.2.3.4` are the same address.
 */
export interface IPAddress {
  /** Also 4 for an IPv6 address that maps an IPv4 address. */
  readonly version: 4 | 6;
  /** Parts, the most significant first; each from 0 to 2³² - 1. */
  readonly words: readonly [number, number, number, number];
}

/** Length of the longest address, `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`. */
const maxLength = 45;

const mapped = 0xffff;

/**
 * Parses an address strictly: IPv4 as four decimal numbers without leading zeros, IPv6 as in RFC
 * 4291, 2.2. Returns `undefined` for everything else: zones (`fe80::1%eth0`), brackets, ports,
 * blanks, and the octal, hexadecimal and short forms that some libraries accept (`010.0.0.1`,
 * `0x7f.1`, `1.2.3`).
 */
export function parseIP(text: string): IPAddress | undefined {
  if (text.length < 2 || text.length > maxLength) return undefined;
  if (text.includes(":")) return parseIPv6(text);
  const word = parseIPv4Word(text);
  return word === undefined ? undefined : { version: 4, words: [0, 0, mapped, word] };
}

/** Formats an address canonically: RFC 5952 for IPv6, dotted decimal for (mapped) IPv4. */
export function formatIP({ version, words }: IPAddress): string {
  if (version === 4) return formatIPv4(words[3]);
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  const zeros = longestZeros(groups);
  const hex = groups.map((group) => group.toString(16));
  if (zeros.length < 2) return hex.join(":");
  const head = hex.slice(0, zeros.start).join(":");
  return `${head}::${hex.slice(zeros.start + zeros.length).join(":")}`;
}

function parseIPv4Word(text: string): number | undefined {
  let word = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 46) {
      if (digits === 0 || dots === 3) return undefined;
      word = word * 256 + octet;
      octet = 0;
      digits = 0;
      dots += 1;
    } else if (code >= 48 && code <= 57) {
      // Some parsers read a number with a leading zero as octal, others as decimal.
      if (digits > 0 && octet === 0) return undefined;
      octet = octet * 10 + code - 48;
      digits += 1;
      if (octet > 255) return undefined;
    } else {
      return undefined;
    }
  }
  return dots === 3 && digits > 0 ? word * 256 + octet : undefined;
}

function parseIPv6(text: string): IPAddress | undefined {
  const gap = text.indexOf("::");
  if (gap === -1) return fromGroups(parseGroups(text, true), [], 0);
  const head = parseGroups(text.slice(0, gap), false);
  const tail = parseGroups(text.slice(gap + 2), true);
  return fromGroups(head, tail, 1);
}

/** Parses the groups of a part of an address. Returns `undefined` when one of them is invalid. */
function parseGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (isEnd && index === parts.length - 1 && part.includes(".")) {
      const word = parseIPv4Word(part);
      if (word === undefined) return undefined;
      groups.push(Math.floor(word / 65_536), word % 65_536);
    } else {
      if (!/^[\da-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

/** Joins the groups before and after `::`, which stands for at least `minimum` groups of zeros. */
function fromGroups(
  head: readonly number[] | undefined,
  tail: readonly number[] | undefined,
  minimum: number,
): IPAddress | undefined {
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (missing < minimum || (minimum === 0 && missing !== 0)) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  const word = (index: number): number =>
    (groups[index * 2] ?? 0) * 65_536 + (groups[index * 2 + 1] ?? 0);
  const words = [word(0), word(1), word(2), word(3)] as const;
  const isMapped = words[0] === 0 && words[1] === 0 && words[2] === mapped;
  return { version: isMapped ? 4 : 6, words };
}

function formatIPv4(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** Finds the first of the longest runs of zeros (RFC 5952, 4.2.3). */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}
