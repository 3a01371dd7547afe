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
  "a request from a private address has X-Forwarded-For, and TRUSTED_PROXIES is not set: " +
  "behind a proxy all clients count as one, and as this machine; set TRUSTED_PROXIES to the addresses of the proxy";

/** Warns once of a proxy that is not trusted. Comes after `realIp`, which trusts none. */
export function warnOfProxy(warn: (message: string) => void): Middleware {
  let isDone = false;
  return (next) => (request, context) => {
    if (!isDone && request.headers.has("x-forwarded-for") && isNear(context.ip ?? "")) {
      isDone = true;
      warn(warning);
    }
    return next(request, context);
  };
}
