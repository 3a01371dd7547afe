import type { AccessRule } from "../access.ts";
import { RestError } from "../errors.ts";
import type { Route } from "../plan/route.ts";
import type { Authentication } from "./authentication.ts";

/**
 * Checks that every route can recognize the callers that its rule is about.
 *
 * @throws RestError `ERR_REST_CONFIGURATION` with the routes that nobody could call.
 */
export function requireAuthentication(
  routes: readonly Route[],
  authentication: Authentication | undefined,
): void {
  if (!authentication) {
    const asking = routes.filter(asksForCaller);
    if (asking.length === 0) return;
    const keyIsEnough = asking.every(({ access }) => access === "master");
    const options = keyIsEnough ? "{ masterKey }" : "{ masterKey, jwtSecret, accounts }";
    const isOpenable = asking.every(({ access }) => access !== "public");
    const orOpen = isOpenable ? ', or set their access to "public"' : "";
    const advice = `pass authentication: createAuthentication(${options})${orOpen}`;
    refuse(`createApi needs authentication for ${describe(asking)}: ${advice}`);
  }
  const { rules } = authentication;
  const asking = rules ? routes.filter(({ access }) => !rules.includes(access)) : [];
  if (asking.length === 0) return;
  if (rules?.includes("user")) {
    const advice = 'set their access to "public", "user" or "admin"';
    const what = "createCustomAuthentication knows neither a master key nor passwords, needed for";
    refuse(`${what} ${describe(asking)}: ${advice}`);
  }
  const advice = 'pass both, or set their access to "public" or "master"';
  refuse(`createAuthentication needs jwtSecret and accounts for ${describe(asking)}: ${advice}`);
}

/** A bulk route for everyone has the rules of its operations, whose own routes are checked. */
function asksForCaller({ access, action, checksCaller }: Route): boolean {
  return access !== "public" || (checksCaller === true && action !== "bulk");
}

/** Lists routes, those of one resource together by their operations. */
function describe(routes: readonly Route[]): string {
  const byOwner = new Map<string, Set<string>>();
  for (const route of routes) {
    const { action, method, path, resource } = route;
    const owner = resource && action ? ` of the resource "${resource.name}"` : "";
    const what = resource && action ? operationOf(action) : `${method} ${path}`;
    const known = byOwner.get(owner) ?? new Set();
    byOwner.set(owner, known.add(`${what} (${reasonOf(route)})`));
  }
  return [...byOwner].map(([owner, parts]) => [...parts].join(", ") + owner).join(", ");
}

function operationOf(
  action: NonNullable<Route["action"]>,
): Exclude<typeof action, "groups" | "patch" | "query"> {
  if (action === "patch") return "update";
  return action === "groups" || action === "query" ? "list" : action;
}

function reasonOf({ access, action, resource }: Route): string {
  const operation = action && operationOf(action);
  const rule = operation && operation !== "bulk" ? resource?.access[operation] : undefined;
  if (typeof rule === "function") return "access is a function";
  if (access === "public") {
    return resource && action ? "sets fields that only some callers set" : "checks its caller";
  }
  const shown: AccessRule | "owner" = rule === "owner" ? rule : access;
  return `access "${shown}"`;
}

function refuse(message: string): never {
  throw new RestError("ERR_REST_CONFIGURATION", message);
}
