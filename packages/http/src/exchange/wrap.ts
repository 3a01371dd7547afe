import { describeValue } from "@fetchwork/kit";
import type { Context } from "../context.ts";
import { checkFunction } from "./check-function.ts";
import { ExchangeContext, noInit, type ContextInit } from "./create-context.ts";
import { HttpUsageError, notAResponse } from "../errors.ts";
import { exposedResponse } from "./exposed-response.ts";
import type { Handler, Middleware } from "../handler.ts";
import { passOn } from "../message/pass-on.ts";
import { replaceBody } from "../message/replace-body.ts";
import { releaseResponse } from "../message/response-owner.ts";
import { isNullBodyStatus } from "../message/fast-response.ts";

/** A handler that makes a context when called without one; fits {@link Handler}. */
export type WrappedHandler = (request: Request, context?: Context) => Response | Promise<Response>;

/**
 * Wraps a handler in middlewares; the first is the outermost.
 *
 * Each middleware is called once, here. The result adds no cost to a request: with a context it
 * only calls the outermost middleware. So a synchronous handler in synchronous middlewares returns
 * a `Response` and not a promise.
 *
 * Called without a context, it creates one and ends it when the body has been read, cancelled or
 * has failed. Bytes are counted when a finish listener was added before the response was returned;
 * otherwise the exchange ends with the head.
 *
 * @example
 * ```ts
 * const handler = wrap(() => json({ hello: "world" }), logger(), gzip());
 * const response = await handler(new Request("http://localhost/"));
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` when the handler, a middleware or the result of a
 * middleware is not a function
 */
export function wrap(handler: Handler, ...middlewares: readonly Middleware[]): WrappedHandler {
  checkFunction(handler, "handler");
  middlewares.forEach((middleware, index) => checkPlace(middleware, middlewares.slice(index + 1)));
  const outermost = middlewares.reduceRight<Handler>((next, middleware, index) => {
    checkFunction(middleware, `middleware ${index + 1}`);
    const wrapped = middleware(next);
    if (typeof wrapped !== "function") {
      const advice = middleware.name === "" ? "" : `; did you mean ${middleware.name}()?`;
      throw new HttpUsageError(
        "ERR_HTTP_HANDLER",
        `middleware ${index + 1} must return a handler, got ${describeValue(wrapped)}${advice}`,
      );
    }
    return wrapped;
  }, handler);
  return (request, context) =>
    context === undefined ? runExchange(outermost, request, noInit) : outermost(request, context);
}

/**
 * Runs a handler for one request on a runtime that has its own server, such as Deno, Bun or
 * Workers: creates the context from what the runtime knows, and ends it with the body. An error
 * that asks to be a response becomes one, as in {@link exposedResponse}; all others are thrown.
 *
 * @example
 * ```ts
 * Deno.serve((request, { remoteAddr }) => runHandler(handler, request, { peer: remoteAddr.hostname }));
 * Bun.serve({ fetch: (request, server) => runHandler(handler, request, { peer: server.requestIP(request)?.address }) });
 * ```
 */
export function runHandler(
  handler: Handler,
  request: Request,
  init: ContextInit = {},
): Response | Promise<Response> {
  return runExchange(exposingErrors(handler), request, init);
}

function exposingErrors(handler: Handler): Handler {
  return (request, context) => {
    try {
      const result = handler(request, context);
      return result instanceof Promise ? result.catch(exposedOrThrow) : result;
    } catch (error) {
      return exposedOrThrow(error);
    }
  };
}

function exposedOrThrow(error: unknown): Response {
  const response = exposedResponse(error);
  if (response === undefined) throw error;
  return response;
}

function runExchange(
  handler: Handler,
  request: Request,
  init: ContextInit,
): Response | Promise<Response> {
  const context = new ExchangeContext(request, init);
  let result: Response | Promise<Response>;
  try {
    result = handler(request, context);
  } catch (error) {
    return fail(context, error);
  }
  if (result instanceof Response) return end(request, context, result);
  return Promise.resolve(result).then(
    (response) => end(request, context, response),
    (error: unknown) => fail(context, error),
  );
}

function end(request: Request, context: ExchangeContext, response: Response): Response {
  if (!(response instanceof Response)) {
    return fail(context, notAResponse(response));
  }
  releaseResponse(response);
  const { status } = response;
  if (
    !ExchangeContext.isWatched(context) ||
    request.method === "HEAD" ||
    isNullBodyStatus(status) ||
    response.body === null
  ) {
    ExchangeContext.finish(context, { status, bytes: 0 });
    return response;
  }
  let bytes = 0;
  const counted = passOn(response.body, {
    onPiece: ({ byteLength }) => {
      bytes += byteLength;
    },
    onEnd: (how) => ExchangeContext.finish(context, { status, bytes, ...how }),
  });
  return replaceBody(response, counted, response.headers);
}

function fail(context: ExchangeContext, error: unknown): never {
  ExchangeContext.finish(context, { status: 500, bytes: 0, error });
  throw error;
}

/** A middleware may refuse or warn of what it wraps; those of `@fetchwork/middleware` do. */
const placeKey: unique symbol = Symbol.for("fetchwork.place") as never;

interface PlacedMiddleware extends Middleware {
  readonly [placeKey]?: { check(inside: readonly Middleware[]): void };
}

function checkPlace(middleware: PlacedMiddleware, inside: readonly Middleware[]): void {
  if (typeof middleware === "function") middleware[placeKey]?.check(inside);
}
