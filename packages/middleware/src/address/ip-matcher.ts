import { formatIP, parseIP, parseIPRange, type IPAddress, type IPRange } from "@fetchwork/kit";
import { optionError } from "../check-options.ts";
import { isInAny } from "./range-matcher.ts";

/** Whether an address matches. Text that is not an address never matches. */
type IPMatcher = (address: string) => boolean;

/**
 * Makes a matcher of a list of rules. A rule is
 *
 * - a range in CIDR notation: `10.0.0.0/8`, `2001:db8::/32`;
 * - a complete address, in any spelling: `1.2.3.4`, `2001:db8:0:0::1`;
 * - or the literal start of an address in its canonical spelling: `1.2.3.`, `2001:db8:`. End it
 *   with a separator: `1.2.3` also starts `1.2.30.4`. That of an IPv6 address has a colon, so that
 *   a word such as `bad` is not a rule.
 *
 * Without rules nothing matches.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` for a rule that can match no address, and for an
 * empty one, which would match all
 */
export function ipMatcher(rules: readonly string[]): IPMatcher {
  if (!Array.isArray(rules)) throw optionError("addresses", rules, "a list of addresses");
  const ranges: IPRange[] = [];
  const prefixes: string[] = [];
  for (const rule of rules as readonly unknown[]) {
    const range = typeof rule === "string" ? parseIPRange(rule) : undefined;
    if (range !== undefined) ranges.push(range);
    else prefixes.push(checkPrefix(rule));
  }
  if (ranges.length === 0 && prefixes.length === 0) return () => false;
  return (address) => {
    const parsed = parseIP(address);
    if (parsed === undefined) return false;
    return isInAny(parsed, ranges) || startsWithAny(parsed, prefixes);
  };
}

function startsWithAny(address: IPAddress, prefixes: readonly string[]): boolean {
  if (prefixes.length === 0) return false;
  const text = formatIP(address);
  for (const prefix of prefixes) if (text.startsWith(prefix)) return true;
  return false;
}

const octets = /^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){0,3}\.?$/;
const leadingZero = /(?:^|[.:])0[\da-f]/;
const groups = /^[\da-f]{0,4}(?::[\da-f]{0,4}){0,7}$/;

function checkPrefix(rule: unknown): string {
  const prefix = typeof rule === "string" ? rule.toLowerCase() : "";
  const isPossible = prefix.includes(":") ? groups.test(prefix) : octets.test(prefix);
  if (isPossible && !leadingZero.test(prefix)) return prefix;
  throw optionError(
    "an address rule",
    rule,
    "an address, a range such as 10.0.0.0/8, or the start of an address such as 10.0. or 2001:db8:",
  );
}
