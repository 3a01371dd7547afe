import type { Middleware } from "@fetchwork/http";
import {
  appInfo,
  canonicalizePath,
  compress,
  cors,
  health,
  maybe,
  metrics,
  ping,
  rateLimit,
  realIp,
  recoverer,
  secAllHeaders,
  secure,
  serverTiming,
  timeout,
  trace,
  type HealthCheck,
  type RateLimitStore,
} from "@fetchwork/middleware";
import { Problem } from "@fetchwork/rest";
import type { Log } from "../log/log.ts";
import { cameByProxy, warnOfProxy } from "./warn-of-proxy.ts";

/** Settings that the middlewares need. */
export interface MiddlewareSettings {
  readonly name: string;
  readonly version: string;
  /** Checks that `/health` runs. */
  readonly checks: readonly HealthCheck[];
  /** Addresses of proxies in front. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may read responses. Default: all. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Sign-ins per minute and address; `0` for any number. */
  readonly signInLimit: number;
  /** Default: nothing is logged. */
  readonly logs?: Log | undefined;
  /** Counts sign-ins of an address. Default: the memory of this process. */
  readonly signIns?: RateLimitStore | undefined;
}

/** Middlewares of every request, from outside to inside; see docs/middlewares.md. */
export function middlewares(settings: MiddlewareSettings): readonly Middleware[] {
  const { checks, corsOrigins, logs, name, signInLimit, signIns, trustedProxies, version } =
    settings;
  const signInRule = {
    limit: signInLimit,
    store: signIns,
    name: "sign-in",
    respond: () => new Problem(429, { detail: "too many sign-ins; see Retry-After" }).toResponse(),
  };
  return [
    trace(),
    realIp({ trustedProxies }),
    ...(logs && trustedProxies.length === 0 ? [warnOfProxy(logs.warned)] : []),
    ...(logs?.middleware ? [logs.middleware] : []),
    serverTiming(),
    cors({
      ...(corsOrigins && { allowedOrigins: corsOrigins }),
      allowedHeaders: [
        "Authorization",
        "Content-Type",
        "If-Match",
        "If-None-Match",
        "Idempotency-Key",
      ],
      allowedMethods: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "QUERY"],
      exposedHeaders: [
        "Accept-Query",
        "ETag",
        "Idempotency-Replayed",
        "Link",
        "Location",
        "Retry-After",
        "X-Next-Page",
        "X-Request-ID",
        "X-Result-Partial",
        "X-Total-Count",
        "X-Total-Count-Capped",
      ],
      maxAge: 600,
    }),
    secure(secAllHeaders()),
    appInfo({ name, version }),
    recoverer({ log: logs?.failed, respond: () => new Problem(500).toResponse() }),
    ping(),
    health({ checks }),
    // Behind a proxy that is not known, everybody seems to be this machine.
    ...(trustedProxies.length === 0 ? [maybe(metrics(), cameByProxy)] : []),
    metrics("127.0.0.1", "::1"),
    ...(signInLimit === 0 ? [] : [maybe(rateLimit(signInRule), checksPassword)]),
    untagged(compress()),
    timeout(15_000, { respond: () => new Problem(504).toResponse() }),
  ];
}

/** Whether a request costs the hash of a password or a mail, which is also what guessing takes. */
function checksPassword({ method, url }: Request): boolean {
  // The API takes `/%61uth` for `/auth`. Nobody knows what a path without a safe meaning is taken
  // for.
  const path = canonicalizePath(new URL(url).pathname);
  return (
    path === undefined ||
    (method === "POST" && /^\/auth(?:\/cookie)?\/?$/.test(path)) ||
    (method !== "GET" && /^\/users\/[^/]+\/(?:password|email|totp)\/?$/.test(path)) ||
    /^\/(?:password-resets|email-changes|passkeys)(?:\/|$)/.test(path)
  );
}

/** Compressed, the ETag of a document would be a weak one, which never holds for `If-Match`. */
function untagged(middleware: Middleware): Middleware {
  return (next) => async (request, context) => {
    const response = await next(request, context);
    const { headers } = response;
    const isJson = headers.get("content-type")?.includes("json") === true;
    const isTagged = isJson && headers.get("etag")?.startsWith('"') === true;
    return isTagged ? response : middleware(() => response)(request, context);
  };
}
