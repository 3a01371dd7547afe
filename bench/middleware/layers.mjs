// The ten layers that are measured, and the nearest that Hono has.
import {
  cacheControl,
  cors,
  gzip,
  health,
  logger,
  ping,
  realIp,
  recoverer,
  secure,
  trace,
} from "@fetchwork/middleware";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { cors as honoCors } from "hono/cors";
import { etag } from "hono/etag";
import { logger as honoLogger } from "hono/logger";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";

/** Ours; lines are formatted and thrown away. */
export function tenLayers() {
  return [
    recoverer(),
    logger({ sink: () => {} }),
    realIp(),
    trace(),
    ping(),
    health(),
    secure(),
    cors({ allowedOrigins: ["https://example.com"] }),
    cacheControl(60, "1"),
    gzip(),
  ];
}

/**
 * Hono with what it has of them; it recovers by itself, and knows no proxies. `answer` is its
 * handler. Its `etag()` hashes every body, where ours makes the tag of version and URL: without it,
 * the headers are set as ours sets them.
 */
export function honoApp(answer, { hasEtag = true } = {}) {
  const app = new Hono();
  app.onError((_, c) => c.text("Internal Server Error", 500));
  app.use(honoLogger(() => {}));
  app.use(requestId());
  app.use(secureHeaders());
  app.use(honoCors({ origin: ["https://example.com"] }));
  app.use(
    hasEtag
      ? etag()
      : async (c, next) => {
          await next();
          c.header("ETag", '"1"');
          c.header("Cache-Control", "max-age=60, no-cache");
        },
  );
  app.use(compress());
  app.get("/ping", (c) => c.text("pong"));
  app.get("/health", (c) => c.json([]));
  app.get("*", answer);
  return app;
}
