import type { Context } from "@fetchwork/http";
import { parseForwarded } from "./forwarded.ts";
import { rangeMatcher } from "./range-matcher.ts";
import { parsePeer } from "./peer-address.ts";
import { checkOptions } from "../check-options.ts";

/** Whether the client uses HTTPS. */
export type HttpsCheck = (request: Request, context: Pick<Context, "peer">) => boolean;

/** Options of {@link httpsCheck}. */
export interface HttpsCheckOptions {
  /**
   * Addresses and ranges (CIDR) of your own proxies. `X-Forwarded-Proto` and `Forwarded` then count
   * only when the connection comes from one of them. Default: every client is trusted.
   */
  readonly trustedProxies?: readonly string[] | undefined;
}

/**
 * Makes a check whether a client uses HTTPS: the server itself uses it, or `X-Forwarded-Proto` is
 * `https` (alone, not in a list), or an element of `Forwarded` has `proto=https` (RFC 7239, 5.4).
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when a proxy is neither an address nor a range
 */
export function httpsCheck(options: HttpsCheckOptions = {}): HttpsCheck {
  checkOptions("httpsCheck", options, ["trustedProxies"]);
  const { trustedProxies } = options;
  const isTrusted =
    trustedProxies === undefined ? undefined : rangeMatcher(trustedProxies, "trustedProxies");
  return ({ url, headers }, { peer }) => {
    if (url.startsWith("https:")) return true;
    if (isTrusted !== undefined) {
      const proxy = parsePeer(peer);
      if (proxy === undefined || !isTrusted(proxy.address)) return false;
    }
    if (headers.get("x-forwarded-proto")?.trim().toLowerCase() === "https") return true;
    const forwarded = headers.get("forwarded");
    if (forwarded === null) return false;
    return (parseForwarded(forwarded) ?? []).some(
      (element) => element.get("proto")?.toLowerCase() === "https",
    );
  };
}
