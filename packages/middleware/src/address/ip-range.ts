import { parseIP, type IPAddress } from "@fetchwork/kit";
import { optionError } from "../check-options.ts";

/** Addresses that share their first bits. */
export interface IPRange {
  /** 4 also for a range inside `::ffff:0:0/96`, which maps IPv4. */
  readonly version: 4 | 6;
  /** First address; its bits behind the mask are zero. */
  readonly words: IPAddress["words"];
  readonly masks: IPAddress["words"];
}

/**
 * Reads a range in CIDR notation (RFC 4632, RFC 4291), such as `10.0.0.0/8` or `2001:db8::/32`; a lone address is the
 * range of itself. Bits behind the prefix length are dropped. Returns undefined for everything else; addresses are as
 * strict as for {@link parseIP}.
 */
export function parseIPRange(text: string): IPRange | undefined {
  const slash = text.indexOf("/");
  const address = parseIP(slash === -1 ? text : text.slice(0, slash));
  if (address === undefined) return undefined;
  if (slash === -1) return makeRange(address, 128);
  const lengthText = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(lengthText)) return undefined;
  const length = Number(lengthText);
  if (text.includes(":")) {
    // A shorter prefix of a mapped address covers more than IPv4, and is a range of IPv6.
    const range = length < 96 ? ({ ...address, version: 6 } as const) : address;
    return length > 128 ? undefined : makeRange(range, length);
  }
  return length > 32 ? undefined : makeRange(address, length + 96);
}

/**
 * Whether an address is in a range. An address of one family is never in a range of the other: `::/0` holds no IPv4
 * address. A mapped IPv4 address is IPv4.
 */
export function isInRange(address: IPAddress, range: IPRange): boolean {
  if (address.version !== range.version) return false;
  const { words, masks } = range;
  return (
    (address.words[3] & masks[3]) >>> 0 === words[3] &&
    (address.words[2] & masks[2]) >>> 0 === words[2] &&
    (address.words[1] & masks[1]) >>> 0 === words[1] &&
    (address.words[0] & masks[0]) >>> 0 === words[0]
  );
}

function makeRange(address: IPAddress, length: number): IPRange {
  const masks = [
    maskOf(length),
    maskOf(length - 32),
    maskOf(length - 64),
    maskOf(length - 96),
  ] as const;
  const [a, b, c, d] = address.words;
  return {
    version: address.version,
    words: [(a & masks[0]) >>> 0, (b & masks[1]) >>> 0, (c & masks[2]) >>> 0, (d & masks[3]) >>> 0],
    masks,
  };
}

/** A word of which the first `bits` are set. */
function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffffffff : (0xffffffff << (32 - bits)) >>> 0;
}

/**
 * Makes a matcher of ranges and complete addresses only, for decisions that a prefix is too loose for.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function rangeMatcher(
  rules: readonly string[],
  what: string,
): (address: IPAddress) => boolean {
  if (!Array.isArray(rules)) throw optionError(what, rules, "a list of addresses and ranges");
  const ranges = (rules as readonly unknown[]).map((rule) => {
    const range = typeof rule === "string" ? parseIPRange(rule) : undefined;
    if (range === undefined)
      throw optionError(what, rule, "an address or a range such as 10.0.0.0/8");
    return range;
  });
  return (address) => isInAny(address, ranges);
}

/** Whether an address is in one of the ranges. */
export function isInAny(address: IPAddress, ranges: readonly IPRange[]): boolean {
  for (const range of ranges) if (isInRange(address, range)) return true;
  return false;
}
