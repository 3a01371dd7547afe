import { isInRange, parseIPRange, type IPAddress, type IPRange } from "@fetchwork/kit";
import { optionError } from "../check-options.ts";

/**
 * Makes a matcher of ranges and complete addresses only, for decisions that a prefix is too loose
 * for.
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
