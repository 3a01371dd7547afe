import type { Middleware } from "@fetchwork/http";
import {
  appInfo,
  compress,
  cors,
  health,
  logger,
  maybe,
  metrics,
  ping,
  rateLimit,
  realIp,
  recoverer,
  secAllHeaders,
  secretKeys,
  secure,
  serverTiming,
  timeout,
  trace,
  type HealthCheck,
} from "@fetchwork/middleware";
import { Problem } from "@fetchwork/rest";
import type { Config } from "../config.ts";

/** Settings of the middlewares. Absent, there is no log, no proxy, and no limit for sign-ins. */
export type MiddlewareConfig = {
  readonly [K in "log" | "trustedProxies" | "signInLimit"]?: Config[K] | undefined;
};

/** What the middlewares need to know. */
export interface MiddlewareSettings extends MiddlewareConfig {
  readonly name: string;
  readonly version: string;
  /** What `/health` asks for. */
  readonly checks: readonly HealthCheck[];
}

/** What every request passes, from the outside to the inside. The order matters: see docs/middlewares.md. */
export function middlewares(settings: MiddlewareSettings): readonly Middleware[] {
  const { name, version, checks, log = "off", trustedProxies = [], signInLimit = 0 } = settings;
  return [
    trace(),
    realIp({ trustedProxies }),
    ...(log === "off" ? [] : [logger({ format: log, maskedKeys: [...secretKeys, "code"] })]),
    serverTiming(),
    cors({
      allowedHeaders: [
        "Authorization",
        "Content-Type",
        "If-Match",
        "If-None-Match",
        "Idempotency-Key",
      ],
      exposedHeaders: ["ETag", "Link", "Location", "Retry-After", "X-Request-ID", "X-Total-Count"],
      maxAge: 600,
    }),
    secure(secAllHeaders()),
    appInfo({ name, version }),
    recoverer({ answer: () => new Problem(500).toResponse() }),
    ping(),
    health({ checks }),
    metrics("127.0.0.1", "::1"),
    ...(signInLimit === 0 ? [] : [maybe(limitSignIns(signInLimit), checksPassword)]),
    maybe(compress(), (request) => !showsOneDocument(request)),
    timeout(15_000, { answer: () => new Problem(504).toResponse() }),
  ];
}

function limitSignIns(limit: number): Middleware {
  return rateLimit({
    limit,
    name: "sign-in",
    answer: () => new Problem(429, { detail: "too many sign-ins; see Retry-After" }).toResponse(),
  });
}

/** Whether a request costs the hash of a password, which is also what guessing one takes. */
function checksPassword({ method, url }: Request): boolean {
  const { pathname } = new URL(url);
  return (
    (method === "POST" && /^\/auth\/?$/.test(pathname)) ||
    (method === "PUT" && /^\/users\/[^/]+\/password\/?$/.test(pathname))
  );
}

/** Compressed, its ETag would be a weak one, and a weak one never holds for `If-Match`. */
function showsOneDocument({ url }: Request): boolean {
  return /^\/(?!docs\/)[^/]+\/[^/]+\/?$/.test(new URL(url).pathname);
}
