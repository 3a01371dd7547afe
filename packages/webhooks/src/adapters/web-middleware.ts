import type { Logger } from "@fetchwork/kit";
import { checkOptions, checkType } from "../check-options.ts";
import type { EventMap } from "../event-map.ts";
import { readWebBody } from "../receive/read-web-body.ts";
import { type ReceiverOptions, receiverOptionNames } from "../receive/receiver-options.ts";
import { errorResponse, type ReceiverResponse } from "../receive/receiver-response.ts";
import { trimSlashes, type WaitUntil } from "../receive/receiver.ts";
import { Webhooks } from "../receive/webhooks.ts";

/**
 * Responds to a request. The other arguments are what the runtime passes: `env` and `ctx` of
 * Workers, the server of Bun, `info` of Deno, `{ params }` of Next.js, the context of
 * `@fetchwork/http` or of Netlify. Work that goes on after a 202 is passed to `waitUntil` of the
 * first of them that has it. Never rejects, unless `fallback` does.
 */
export type WebMiddleware = (request: Request, ...runtime: readonly unknown[]) => Promise<Response>;

/** Options of {@link createWebMiddleware}. */
export interface WebReceiverOptions extends ReceiverOptions {
  /** Responds to requests for other paths, with all arguments of the runtime. Default: 404. */
  readonly fallback?:
    ((request: Request, ...runtime: never[]) => Response | Promise<Response>) | undefined;
}

/**
 * Makes a receiver for runtimes with `Request` and `Response`. It is the `fetch` of Workers and
 * Bun, the handler of `Deno.serve` and the `POST` of Next.js as it is. See {@link
 * WebMiddleware} for `waitUntil`.
 *
 * @example
 * ```ts
 * export default { fetch: createWebMiddleware(webhooks) };
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createWebMiddleware<Events extends EventMap, Transformed>(
  webhooks: Webhooks<Events, Transformed>,
  options: WebReceiverOptions = {},
): WebMiddleware {
  checkOptions("createWebMiddleware", options, [...receiverOptionNames, "fallback"]);
  const receiver = Webhooks.createReceiver(webhooks, options);
  const { fallback } = options;
  checkType("fallback", fallback, "function");
  return async (request, ...runtime) => {
    const { url, method, headers } = request;
    const path = pathOf(url);
    if (path === undefined) {
      const message = `Request URL could not be parsed: ${url.slice(0, 2000)}`;
      return toResponse(errorResponse(422, message));
    }
    if (path !== receiver.path) {
      // The type of the fallback names what its runtime passes.
      if (fallback !== undefined) return fallback(request, ...(runtime as never[]));
      return toResponse(errorResponse(404, `Unknown route: ${method} ${path}`));
    }
    const response = await receiver.respond({
      method,
      url,
      headers,
      readBody: (unverified) => readWebBody(request, unverified),
      waitUntil: findWaitUntil(runtime, receiver.log),
    });
    return toResponse(response);
  };
}

/** Finds `waitUntil` among the arguments of a runtime. Its errors are only logged. */
function findWaitUntil(runtime: readonly unknown[], log: Logger): WaitUntil | undefined {
  const context = runtime.find(hasWaitUntil);
  if (context === undefined) return undefined;
  return (promise) => {
    try {
      context.waitUntil(promise);
    } catch (error) {
      log.error(error);
    }
  };
}

function hasWaitUntil(argument: unknown): argument is { readonly waitUntil: WaitUntil } {
  return (
    typeof argument === "object" &&
    argument !== null &&
    "waitUntil" in argument &&
    typeof argument.waitUntil === "function"
  );
}

function toResponse({ status, headers, body }: ReceiverResponse): Response {
  return new Response(body, { status, headers });
}

function pathOf(url: string): string | undefined {
  const parsed = URL.parse(url, "http://localhost");
  return parsed === null ? undefined : trimSlashes(parsed.pathname);
}
