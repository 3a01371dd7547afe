import type { Middleware } from "@fetchwork/http";
import { ipMatcher } from "@fetchwork/middleware";

/** Addresses from which a proxy of one's own connects: of this machine, and of private networks. */
const isNear = ipMatcher([
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1",
  "fc00::/7",
]);

const warning =
  "a request from a private address came by a proxy, and TRUSTED_PROXIES is not set: " +
  "behind a proxy all clients count as one, and as this machine; set TRUSTED_PROXIES to the addresses of the proxy";

/** Whether a request came by a proxy, or claims so. */
export function cameByProxy({ headers }: Request): boolean {
  return ["forwarded", "via", "x-forwarded-for", "x-real-ip"].some((name) => headers.has(name));
}

/** Warns once of a proxy that is not trusted. Comes after `realIp`, which trusts none. */
export function warnOfProxy(warn: (message: string) => void): Middleware {
  let isDone = false;
  return (next) => (request, context) => {
    if (!isDone && cameByProxy(request) && isNear(context.ip ?? "")) {
      isDone = true;
      warn(warning);
    }
    return next(request, context);
  };
}
