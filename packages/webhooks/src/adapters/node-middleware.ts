import { checkOptions } from "../check-options.ts";
import type { EventMap } from "../event-map.ts";
import { readNodeHeaders } from "../headers.ts";
import {
  errorResponse,
  failureResponse,
  type ReceiverResponse,
} from "../receive/receiver-response.ts";
import { type ReceiverOptions, receiverOptionNames } from "../receive/receiver-options.ts";
import { type Receiver, trimSlashes } from "../receive/receiver.ts";
import { Webhooks } from "../receive/webhooks.ts";
import type { NodeRequest, NodeResponse } from "./node-message.ts";
import { readNodeBody } from "./read-node-body.ts";

/**
 * A listener of Node's `http`, and a middleware of Express and frameworks like it. Resolves to
 * whether it responded; for another path it calls `next`, if there is one, and resolves to `false`.
 * Never rejects.
 */
export type NodeMiddleware = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<boolean>;

/** Milliseconds for which the rest of a refused body is discarded before the connection closes. */
const discardTimeout = 1000;

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
  checkOptions("createNodeMiddleware", options, receiverOptionNames);
  const receiver = Webhooks.createReceiver(webhooks, options);
  return async (request, response, next) => {
    try {
      const match = matchPath(receiver.path, request);
      // A URL that cannot be parsed may belong to another route. Only without one it is refused
      // here.
      if (match === "other" || (match === "invalid" && next !== undefined)) {
        next?.();
        return false;
      }
      send(
        request,
        response,
        match === "invalid" ? invalidUrl(request) : await respond(receiver, request),
      );
    } catch (error) {
      receiver.log.error(error);
      send(request, response, failureResponse(error));
    }
    return true;
  };
}

function respond(receiver: Receiver, request: NodeRequest): Promise<ReceiverResponse> {
  return receiver.respond({
    method: request.method ?? "",
    // Express removes the path of a mount point from the URL.
    url: request.originalUrl ?? request.url,
    headers: readNodeHeaders(request.headers),
    readBody: (unverified) => readNodeBody(request, unverified),
  });
}

function matchPath(
  path: string,
  { url = "/", originalUrl }: NodeRequest,
): "receiver" | "other" | "invalid" {
  const own = pathOf(path, url);
  if (own === undefined) return "invalid";
  // The second: mounted at its own path, which Express then removes from the URL.
  const isOurs = own === path || (originalUrl !== undefined && pathOf(path, originalUrl) === path);
  return isOurs ? "receiver" : "other";
}

function pathOf(path: string, url: string): string | undefined {
  // The URL that nearly every request has, without parsing.
  if (url === path) return path;
  // Slashes first: a URL that begins with two of them would be read as a host.
  const end = url.search(/[?#]/);
  const parsed = URL.parse(trimSlashes(end === -1 ? url : url.slice(0, end)), "http://localhost");
  return parsed === null ? undefined : trimSlashes(parsed.pathname);
}

function invalidUrl({ url = "" }: NodeRequest): ReceiverResponse {
  return errorResponse(422, `Request URL could not be parsed: ${url.slice(0, 2000)}`);
}

function send(request: NodeRequest, response: NodeResponse, result: ReceiverResponse): void {
  // The framework has responded, for instance after its own timeout; or the client has
  // disconnected.
  if (response.headersSent || response.destroyed === true) return;
  response.writeHead(result.status, { ...result.headers });
  response.end(result.body);
  if (result.discardsBody && request.complete !== true) discardBody(request);
}

/** Lets a client that is about to finish read the response; disconnects others. */
function discardBody(request: NodeRequest): void {
  request.on("error", () => undefined);
  const timer = setTimeout(() => request.destroy(), discardTimeout);
  request.on("close", () => clearTimeout(timer));
  request.on("end", () => clearTimeout(timer));
  request.resume();
}
