import { type Answer, errorAnswer } from "./answer.ts";
import type { EventMap } from "./event-map.ts";
import { readWebBody } from "./read-web-body.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import { Receiver, trimSlashes, type WaitUntil } from "./receiver.ts";
import { Webhooks } from "./webhooks.ts";

/** What a runtime offers beside the request: the context of `@fetchwork/http`, of Workers, of Hono, … */
export interface WebContext {
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/** Answers a request. It is a `Handler` of `@fetchwork/http` too. Never rejects, unless `fallback` does. */
export type WebMiddleware = (request: Request, context?: WebContext) => Promise<Response>;

/** Options of {@link createWebMiddleware}. */
export interface WebReceiverOptions extends ReceiverOptions {
  /** Answers requests for other paths. Default: 404. */
  readonly fallback?: ((request: Request) => Response | Promise<Response>) | undefined;
}

/**
 * Makes a receiver for runtimes with `Request` and `Response`. What still runs after a 202 is given to
 * `context.waitUntil`, when there is one.
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
  const receiver = new Receiver(Webhooks.pipelineOf(webhooks), options);
  const { fallback } = options;
  return async (request, context) => {
    const startedAt = performance.now();
    const { url } = request;
    const path = pathOf(url);
    if (path === undefined) {
      return toResponse(errorAnswer(422, `Request URL could not be parsed: ${url.slice(0, 2000)}`));
    }
    if (path !== receiver.path) {
      if (fallback !== undefined) return fallback(request);
      return toResponse(errorAnswer(404, `Unknown route: ${request.method} ${path}`));
    }
    return toResponse(await answerTo(receiver, request, { path, startedAt, context }));
  };
}

async function answerTo(
  receiver: Receiver,
  request: Request,
  {
    path,
    startedAt,
    context,
  }: {
    readonly path: string;
    readonly startedAt: number;
    readonly context: WebContext | undefined;
  },
): Promise<Answer> {
  const { headers, url } = request;
  const kind = receiver.checkHead(request.method, path, headers);
  if (typeof kind !== "string") return kind;
  let body: Uint8Array;
  try {
    body = await readWebBody(request, receiver.limits);
  } catch (error) {
    return receiver.failToRead(error);
  }
  return receiver.answer({ headers, body, kind, url }, startedAt, waitUntilOf(context));
}

function waitUntilOf(context: WebContext | undefined): WaitUntil | undefined {
  if (typeof context?.waitUntil !== "function") return undefined;
  return (promise) => context.waitUntil?.(promise);
}

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { status, headers });
}

function pathOf(url: string): string | undefined {
  const parsed = URL.parse(url, "http://localhost");
  return parsed === null ? undefined : trimSlashes(parsed.pathname);
}
