import { json, type Context, type Handler } from "@fetchwork/http";
import type { Guard } from "./guard.ts";
import { HttpFailure, invalid, notFound } from "./http-failure.ts";
import { pageAssets } from "./page-assets.ts";
import { TaskInputError, type JsonObject } from "./task-agent.ts";

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
    if (asset !== undefined) return checkMethod(request, ["GET", "HEAD"]) ?? asset(request);
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
    const method = request.method === "HEAD" ? "GET" : request.method;
    const operation = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (operation === undefined) {
      const allow = Object.keys(methods);
      return checkMethod(request, allow.includes("GET") ? [...allow, "HEAD"] : allow) ?? failed();
    }
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

function checkMethod(request: Request, allowed: readonly string[]): Response | undefined {
  if (allowed.includes(request.method)) return undefined;
  const allow = allowed.join(", ");
  const message = `${allow} is expected`;
  return json({ message, code: "method", retryable: false }, { status: 405, headers: { allow } });
}

function failed(): Response {
  const body = { message: "the server failed", code: "internal", retryable: false };
  return json(body, { status: 500 });
}

function toErrorResponse(error: unknown, reportError: (error: unknown) => void): Response {
  if (error instanceof TaskInputError) return toErrorResponse(invalid(error.message), reportError);
  if (!(error instanceof HttpFailure)) {
    reportError(error);
    return failed();
  }
  const { status, headers, message, code, retryable } = error;
  const body: JsonObject = { message, code, retryable };
  return json(body, { status, headers });
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
