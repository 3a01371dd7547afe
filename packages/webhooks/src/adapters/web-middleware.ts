import type { KnownOptions } from "@fetchwork/kit";
import { type Answer, errorAnswer } from "../receive/receiver-response.ts";
import type { EventMap } from "../event-map.ts";
import type { Logger } from "../logger.ts";
import { checkOptionNames } from "../option-names.ts";
import { readWebBody } from "../receive/read-body.ts";
import { type ReceiverOptions, receiverOptions } from "../receive/receiver-options.ts";
import { type Incoming, Receiver, trimSlashes, type WaitUntil } from "../receive/receiver.ts";
import { Webhooks } from "../receive/webhooks.ts";

/**
 * Responds to a request. The other arguments are what the runtime passes: `env` and `ctx` of Workers, the server of Bun,
 * `info` of Deno, `{ params }` of Next.js, the context of `@fetchwork/http` or of Netlify. What still runs after a 202 is
 * passed to `waitUntil` of the first of them that has it. Never rejects, unless `fallback` does.
 */
export type WebMiddleware = (request: Request, ...runtime: readonly unknown[]) => Promise<Response>;

/** Options of {@link createWebMiddleware}. */
export interface WebReceiverOptions extends ReceiverOptions {
  /** Responds to requests for other paths; gets all arguments of the runtime. Default: 404. */
  readonly fallback?:
    ((request: Request, ...runtime: never[]) => Response | Promise<Response>) | undefined;
}

/** Names of the options of a receiver that takes a `Request`. */
export function webReceiverOptions(owner: string): KnownOptions {
  return { owner, ...receiverOptions, names: [...receiverOptions.names, "fallback"] };
}

/**
 * Makes a receiver for runtimes with `Request` and `Response`. It is the `fetch` of Workers and Bun, the handler of
 * `Deno.serve` and the `POST` of Next.js as it stands. See {@link WebMiddleware} for `waitUntil`.
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
  checkOptionNames(options, webReceiverOptions("createWebMiddleware"));
  const receiver = new Receiver(Webhooks.pipelineOf(webhooks), options);
  const { fallback } = options;
  return async (request, ...runtime) => {
    const startedAt = performance.now();
    const { url } = request;
    const path = pathOf(url);
    if (path === undefined) {
      return toResponse(errorAnswer(422, `Request URL could not be parsed: ${url.slice(0, 2000)}`));
    }
    if (path !== receiver.path) {
      // The runtime passes what its own type of the fallback says.
      if (fallback !== undefined) return fallback(request, ...(runtime as never[]));
      return toResponse(errorAnswer(404, `Unknown route: ${request.method} ${path}`));
    }
    const waitUntil = waitUntilOf(runtime, receiver.log);
    return toResponse(await answerTo(receiver, request, { path, startedAt, waitUntil }));
  };
}

async function answerTo(
  receiver: Receiver,
  request: Request,
  {
    path,
    startedAt,
    waitUntil,
  }: {
    readonly path: string;
    readonly startedAt: number;
    readonly waitUntil: WaitUntil | undefined;
  },
): Promise<Answer> {
  const { headers, url } = request;
  const kind = receiver.checkHead(request.method, path, headers);
  if (typeof kind !== "string") return kind;
  const read: Incoming["read"] = (limits, unverified) => readWebBody(request, limits, unverified);
  return receiver.answer({ headers, kind, url, read, startedAt, waitUntil });
}

/** Finds `waitUntil` among the arguments of a runtime. What it throws is logged, as the response is on its way. */
function waitUntilOf(runtime: readonly unknown[], log: Logger): WaitUntil | undefined {
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

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

function pathOf(url: string): string | undefined {
  const parsed = URL.parse(url, "http://localhost");
  return parsed === null ? undefined : trimSlashes(parsed.pathname);
}
