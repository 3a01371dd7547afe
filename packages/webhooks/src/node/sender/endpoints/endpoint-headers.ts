import { isConnectionHeader } from "@fetchwork/kit";
import { optionError } from "../../../errors.ts";
import type { Vendor } from "../../../vendors/define-vendor.ts";

const maxHeaders = 20;
const maxValue = 1_024;
/** Headers that the request itself or the transport sets. */
const reserved: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "proxy-authorization",
  "user-agent",
]);

/**
 * Checks the headers of an endpoint, and returns them with names in lower case.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`; the message has no values, which may be secret
 */
export function checkHeaders(
  given: Readonly<Record<string, string>>,
  vendor: Vendor,
): Readonly<Record<string, string>> {
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : [];
  const checked = entries.map(([name, value]) => [name.toLowerCase(), value] as const);
  const names = new Set(checked.map(([name]) => name));
  const isValid =
    !Array.isArray(given) &&
    names.size === entries.length &&
    names.size >= 1 &&
    names.size <= maxHeaders &&
    checked.every(([name, value]) => isFree(name, vendor) && isValue(value));
  if (isValid) return Object.fromEntries(checked);
  const wanted = `1 to ${maxHeaders} headers that the sender does not set, each a text of at most ${maxValue} visible characters`;
  throw optionError("headers", [...names].join(", ").slice(0, 200), wanted);
}

function isFree(name: string, { scheme, eventHeader, deliveryHeader }: Vendor): boolean {
  const ours = [scheme.signatureHeader, ...scheme.requiredHeaders, eventHeader, deliveryHeader];
  return (
    /^[a-z\d][a-z\d_-]{0,63}$/.test(name) &&
    !reserved.has(name) &&
    !isConnectionHeader(name) &&
    !ours.some((each) => each?.toLowerCase() === name)
  );
}

function isValue(value: unknown): boolean {
  return (
    typeof value === "string" && value.length <= maxValue && /^[!-~](?:[ -~]*[!-~])?$/.test(value)
  );
}
