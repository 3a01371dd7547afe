import { json, type Context, type Handler } from "@fetchwork/http";
import type { Guard } from "./guard.ts";
import { HttpFailure, invalid, notFound, wrongMethod } from "./http-failure.ts";
import { pageAssets } from "./page-assets.ts";
import { TaskInputError } from "./task-agent.ts";

/** A request, with the ids of its path: that of the task, and of a part of it. */
export interface Call {
  readonly request: Request;
  readonly context: Context;
  readonly taskId: string;
  readonly id: string;
}

/** One operation of the task API. */
export type Operation = (call: Call) => Promise<Response>;

/** Operations by the shape of their path (such as `task steps one`) and by method. */
export type TaskRoutes = ReadonlyMap<string, { readonly [method: string]: Operation }>;

/** Parts to which requests are routed. */
export interface RoutingParts {
  readonly guard: Guard;
  readonly routes: TaskRoutes;
  /** Rejects when the server is not well. */
  readonly check: () => Promise<void>;
  readonly reportError: (error: unknown) => void;
}

/** Makes the handler that checks requests and finds operations. Failures become responses. */
export function routeRequests({ guard, routes, check, reportError }: RoutingParts): Handler {
  const open = openRoutes(check);
  const respond = async (request: Request, context: Context): Promise<Response> => {
    const url = new URL(request.url);
    guard.checkOrigin(request, url);
    const path = pathOf(url);
    const asset = open.get(path);
    const method = request.method === "HEAD" ? "GET" : request.method;
    if (asset !== undefined) {
      if (method !== "GET") throw wrongMethod(["GET"]);
      return asset(request);
    }
    guard.checkToken(request);
    const segments = path.split("/").slice(1);
    const rest = segments[0] === "ap" && segments[1] === "v1" ? segments.slice(2) : segments;
    const [root, kind, taskId = "", part, id = ""] = rest;
    if (root !== "agent" || kind !== "tasks" || rest.length > 5) throw notFound("page");
    const name = [rest.length > 2 && "task", part, rest.length > 4 && "one"]
      .filter((word) => typeof word === "string")
      .join(" ");
    const methods = routes.get(name);
    if (methods === undefined) throw notFound("page");
    const operation = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (operation === undefined) throw wrongMethod(Object.keys(methods));
    return await operation({ request, context, taskId, id });
  };
  return async (request, context) => {
    try {
      return secured(await respond(request, context));
    } catch (error) {
      return secured(toErrorResponse(error, reportError));
    }
  };
}

/** Routes that need no token: they show no data of anybody. */
function openRoutes(
  check: () => Promise<void>,
): ReadonlyMap<string, (request: Request) => Promise<Response> | Response> {
  return new Map<string, (request: Request) => Promise<Response> | Response>([
    ...pageAssets(),
    [
      "/healthz",
      async () => {
        await check();
        return json({ status: "ok" });
      },
    ],
  ]);
}

function pathOf({ pathname: path }: URL): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function toErrorResponse(error: unknown, reportError: (error: unknown) => void): Response {
  const failure = failureOf(error);
  if (failure === undefined) reportError(error);
  const { status, headers, message, code, retryable } = failure ?? serverFailed;
  return json({ message, code, retryable }, { status, headers });
}

const serverFailed = new HttpFailure(500, "internal", "the server failed");

function failureOf(error: unknown): HttpFailure | undefined {
  if (error instanceof TaskInputError) return invalid(error.message);
  return error instanceof HttpFailure ? error : undefined;
}

/** Forbids browsers to sniff types of responses, to embed responses, and to keep them. */
function secured(response: Response): Response {
  const { headers } = response;
  headers.set("x-content-type-options", "nosniff");
  headers.set("cross-origin-resource-policy", "same-origin");
  headers.set("referrer-policy", "no-referrer");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  return response;
}
