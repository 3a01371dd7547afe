import { type Answer, errorAnswer, failureAnswer } from "../receive/receiver-response.ts";
import { readLowerCase } from "../header-record.ts";
import type { EventMap } from "../event-map.ts";
import type { NodeRequest, NodeResponse } from "./node-message.ts";
import { checkOptionNames } from "../option-names.ts";
import { readNodeBody } from "./read-node-body.ts";
import { type ReceiverOptions, receiverOptions } from "../receive/receiver-options.ts";
import { type Incoming, Receiver, trimSlashes } from "../receive/receiver.ts";
import { Webhooks } from "../receive/webhooks.ts";

/**
 * A listener of Node's `http`, and a middleware of Express and its kin. Resolves to whether it answered; for another path
 * it calls `next`, when there is one, and resolves to `false`. Never rejects.
 */
export type NodeMiddleware = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<boolean>;

/** Milliseconds for which the rest of a refused body is thrown away before the connection is cut. */
const linger = 1000;

/**
 * Makes a receiver for Node's `http`. Must come before anything that reads bodies.
 *
 * @example
 * ```ts
 * const receive = createNodeMiddleware(webhooks);
 * createServer(async (request, response) => {
 *   if (!(await receive(request, response))) response.writeHead(404).end();
 * }).listen(3000);
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createNodeMiddleware<Events extends EventMap, Transformed>(
  webhooks: Webhooks<Events, Transformed>,
  options: ReceiverOptions = {},
): NodeMiddleware {
  checkOptionNames(options, { owner: "createNodeMiddleware", ...receiverOptions });
  const receiver = new Receiver(Webhooks.pipelineOf(webhooks), options);
  return async (request, response, next) => {
    const startedAt = performance.now();
    try {
      const path = matchedPath(receiver.path, request);
      // A URL that is none may be anybody's: only without another route it is refused here.
      if (path === undefined || (path === "" && next !== undefined)) {
        next?.();
        return false;
      }
      const answer =
        path === ""
          ? unparsable(request.url ?? "")
          : await answerTo(receiver, { request, path, startedAt });
      send(request, response, answer);
    } catch (error) {
      receiver.log.error(error);
      send(request, response, failureAnswer(error));
    }
    return true;
  };
}

async function answerTo(
  receiver: Receiver,
  {
    request,
    path,
    startedAt,
  }: { readonly request: NodeRequest; readonly path: string; readonly startedAt: number },
): Promise<Answer> {
  const headers = readLowerCase(request.headers);
  const kind = receiver.checkHead(request.method ?? "", path, headers);
  if (typeof kind !== "string") return kind;
  const read: Incoming["read"] = (limits, unverified) => readNodeBody(request, limits, unverified);
  const { url } = request;
  return receiver.answer({ headers, kind, url, read, startedAt, waitUntil: undefined });
}

/** The path of a request that is the receiver's; `undefined` for another one, `""` when the URL is none. */
function matchedPath(path: string, { url = "/", originalUrl }: NodeRequest): string | undefined {
  const own = pathOf(path, url);
  if (own === undefined) return "";
  if (own === path) return own;
  // Mounted at its own path, which Express then takes off the URL.
  return originalUrl !== undefined && pathOf(path, originalUrl) === path ? path : undefined;
}

function pathOf(path: string, url: string): string | undefined {
  // What nearly every request has, without parsing.
  if (url === path) return path;
  // Slashes first: a URL that begins with two of them would be read as a host.
  const end = url.search(/[?#]/);
  const parsed = URL.parse(trimSlashes(end === -1 ? url : url.slice(0, end)), "http://localhost");
  return parsed === null ? undefined : trimSlashes(parsed.pathname);
}

function unparsable(url: string): Answer {
  return errorAnswer(422, `Request URL could not be parsed: ${url.slice(0, 2000)}`);
}

function send(request: NodeRequest, response: NodeResponse, answer: Answer): void {
  // Somebody else answered, for instance a timeout of the framework; or the client has gone.
  if (response.headersSent || response.destroyed === true) return;
  response.writeHead(answer.status, { ...answer.headers });
  response.end(answer.body);
  if (answer.isCut && request.complete !== true) drain(request);
}

/** Lets a client finish that is about to, so that it reads the answer; cuts off one that is not. */
function drain(request: NodeRequest): void {
  request.on("error", () => undefined);
  const timer = setTimeout(() => request.destroy(), linger);
  request.on("close", () => clearTimeout(timer));
  request.on("end", () => clearTimeout(timer));
  request.resume();
}
