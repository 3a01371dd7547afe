import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Middleware } from "@fetchwork/http";
import { findExchange } from "./framework-exchange.ts";
import { prepareMiddleware } from "./run-middleware.ts";

/** The part of Fastify's request that is used. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage;
}

/** The part of Fastify's reply that is used. */
export interface FastifyReplyLike {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

/** A hook `onRequest` of Fastify. */
export type FastifyHook = (
  request: FastifyRequestLike,
  reply: FastifyReplyLike,
  done: (error?: Error) => void,
) => void;

/**
 * Makes a hook of Fastify from one of our middlewares: `app.addHook("onRequest", …)` for all routes of a scope, or
 * `onRequest` in the options of a route.
 *
 * Fastify has chosen the route before, so a changed path changes nothing; changed headers, a changed body and the address
 * that `realIp` found reach the handler. Fastify turns errors into responses itself, so `recoverer` sees the response.
 *
 * @example
 * ```ts
 * app.addHook("onRequest", toFastify(cors({ allowedOrigins: ["https://app.example.com"] })));
 * app.get("/report", { onRequest: toFastify(compress()) }, sendReport);
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the middleware is not a function
 */
export function toFastify(middleware: Middleware): FastifyHook {
  const run = prepareMiddleware(middleware);
  return (request, reply, done) => {
    let isPassed = false;
    run(request.raw, reply.raw, (error) => {
      if (error === undefined) {
        isPassed = true;
        showAddress(request, reply);
        done();
      } else if (!isPassed) {
        done(error instanceof Error ? error : new Error("the middleware failed", { cause: error }));
      } else {
        // Fastify's hooks have run already.
        console.error(error);
        reply.raw.writeHead(500, { "content-type": "text/plain" });
        reply.raw.end("Internal Server Error\n");
      }
    });
    // Otherwise Fastify would wait for a reply that the middleware has sent, and log that it is late.
    if (!isPassed && reply.raw.writableEnded) reply.hijack();
  };
}

/** Returns the context of a request of Fastify; undefined when no middleware of ours has seen it. */
export function fastifyContext(reply: { readonly raw: ServerResponse }): Context | undefined {
  return findExchange(reply.raw)?.context;
}

function showAddress(request: FastifyRequestLike, reply: FastifyReplyLike): void {
  const context = fastifyContext(reply);
  if (context === undefined || context.ip === context.peer) return;
  Object.defineProperty(request, "ip", { configurable: true, value: context.ip });
}
