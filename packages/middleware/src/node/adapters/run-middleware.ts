import type { ServerResponse } from "node:http";
import { createContextKey, type Middleware } from "@fetchwork/http";
import { checkFunction } from "../../check-options.ts";
import { errorOf, exchangeOf, type FrameworkExchange } from "./framework-exchange.ts";
import type { FrameworkRequest } from "./message-request.ts";
import { passRequest } from "./pass-request.ts";
import { findCapture, ResponseCapture } from "./response-capture.ts";
import { sendResponse } from "./send-response.ts";

/** Passes a request on to the framework, which reports an error by calling it with one. */
export type FrameworkNext = (error?: unknown) => void;

/** Runs a middleware for one request of a framework that writes into Node's response. */
export type MiddlewareRun = (
  message: FrameworkRequest,
  response: ServerResponse,
  next: FrameworkNext,
) => void;

interface Run {
  readonly exchange: FrameworkExchange;
  readonly next: FrameworkNext;
  capture: ResponseCapture | undefined;
  waiter: ((response: Response) => void) | undefined;
}

/** Prepares a middleware once, so that it can be run for each request of a framework. */
export function prepareMiddleware(middleware: Middleware): MiddlewareRun {
  checkFunction(middleware, "middleware");
  const key = createContextKey<Run>("framework");
  const handler = middleware((request, context) => {
    const run = context.get(key);
    if (run === undefined) throw new Error("the middleware passed on another context");
    const { exchange } = run;
    passRequest(exchange, request);
    run.capture = findCapture(exchange.response) ?? new ResponseCapture(exchange);
    const { waiter, result } = run.capture.wait(() => run.next());
    run.waiter = waiter;
    return result;
  });
  checkFunction(handler, "handler of the middleware");
  return (message, response, next) => {
    const exchange = exchangeOf(message, response);
    const run: Run = { exchange, next, capture: undefined, waiter: undefined };
    exchange.context.set(key, run);
    let result: Response | Promise<Response>;
    try {
      result = handler(exchange.request, exchange.context);
    } catch (error) {
      fail(run, error);
      return;
    }
    if (result instanceof Promise) {
      result.then(
        (web) => settle(run, web),
        (error: unknown) => fail(run, error),
      );
    } else {
      settle(run, result);
    }
  };
}

function settle(run: Run, web: Response): void {
  const { exchange } = run;
  try {
    // Without a capture it responded early, and the capture of an outer middleware may wait for that.
    const capture = run.capture ?? findCapture(exchange.response);
    if (capture !== undefined) capture.settle(web, run.waiter);
    else sendResponse(exchange, exchange.response, web, "add");
  } catch (error) {
    fail(run, error);
  }
}

function fail(run: Run, thrown: unknown): void {
  const { capture, exchange, next } = run;
  const error = errorOf(thrown);
  capture?.forget(run.waiter);
  exchange.error ??= error;
  if (capture?.hasBegun !== true) {
    next(error);
  } else if (capture.isWhole) {
    capture.reopen();
    next(error);
  } else {
    // A part of the response was sent, or is read elsewhere.
    exchange.response.destroy();
    console.error(error);
  }
}
