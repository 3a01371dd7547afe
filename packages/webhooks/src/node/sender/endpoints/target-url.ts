import { isPublicAddress, parseIP } from "@fetchwork/kit";
import { WebhookUsageError } from "../../../errors.ts";

/** Rules of which URLs may be targets. */
export interface TargetRules {
  /** Whether `http:` is allowed as well as `https:`. */
  readonly allowHttp: boolean;
  /** Whether a URL may have an address that is not public for its host. */
  readonly allowPrivate: boolean;
}

/**
 * Checks the URL of an endpoint and returns it in its normal form.
 *
 * A name may get another address at any time, so the address is checked at the connection.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_TARGET`
 */
export function checkTarget(given: unknown, { allowHttp, allowPrivate }: TargetRules): string {
  if (typeof given !== "string" || given.length > 2048 || !URL.canParse(given)) {
    throw refused("expected an absolute URL of at most 2048 characters");
  }
  const url = new URL(given);
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) {
    throw refused(allowHttp ? "expected http or https" : "expected https");
  }
  if (url.username !== "" || url.password !== "") throw refused("it contains credentials");
  if (!allowPrivate && hasPrivateAddress(url)) throw refused("its address is not public");
  url.hash = "";
  return url.href;
}

/** Whether a URL has an address for its host, and one that is not public. */
export function hasPrivateAddress({ hostname }: URL): boolean {
  const address = parseIP(hostname.replace(/^\[|\]$/g, ""));
  return address !== undefined && !isPublicAddress(address);
}

function refused(reason: string): WebhookUsageError {
  return new WebhookUsageError("ERR_WEBHOOKS_TARGET", `invalid target URL: ${reason}`);
}
