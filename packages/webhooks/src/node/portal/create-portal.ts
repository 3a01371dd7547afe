import { checkOptions } from "../../check-options.ts";
import { optionError, WebhookUsageError } from "../../errors.ts";
import type { Sender } from "../sender/create-sender.ts";
import { isTenant, tenantForm } from "../sender/endpoints/subscriptions.ts";
import { checkSameOrigin } from "./check-same-origin.ts";
import { pageAssets } from "./page-assets.ts";
import { callPortalApi } from "./portal-api.ts";
import { Problem } from "./problem.ts";

/** Options of `createPortal`. */
export interface PortalOptions {
  /**
   * Resolves to the tenant whose endpoints the request may see and change, as your sessions or
   * tokens have it; to `undefined` for nobody, which is status 401; or to a `Response` that is sent
   * instead, such as 403. Called for each request to the API, not for the page, which has no data.
   * An error that `authorize` throws rejects the call of the portal.
   */
  readonly authorize: (
    request: Request,
  ) => Promise<string | Response | undefined> | string | Response | undefined;
  /** Path of the page, without a slash at its end. Default: `/webhooks`. */
  readonly path?: string | undefined;
  /**
   * Origins of pages that may embed the portal in an `iframe`, such as `https://app.example.com`.
   * Such a page may pass a bearer token by `postMessage`, since browsers keep cookies from embedded
   * pages. Default: none.
   */
  readonly frameAncestors?: readonly string[] | undefined;
  /** Maximum endpoints of a tenant; concurrent requests may exceed it a little. Default: 50. */
  readonly maxEndpoints?: number | undefined;
}

/** Responds to requests for the page at its path, and the API and files below it; else 404. */
export type Portal = (request: Request) => Promise<Response>;

const optionNames = ["authorize", "path", "frameAncestors", "maxEndpoints"] as const;

/**
 * Makes a page, and a JSON API, with which the owner of endpoints manages them: lists, adds,
 * changes, disables and removes endpoints, rotates secrets, sends test events, shows deliveries and
 * replays them. Each request is limited to the tenant that `authorize` returns; what belongs to
 * others does not exist for it.
 *
 * A request of a page of another origin is refused unless it has a bearer token. Bodies have at
 * most 64 KiB.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createPortal(sender: Sender, options: PortalOptions): Portal {
  checkOptions("createPortal", options, optionNames);
  const { authorize, path = "/webhooks", frameAncestors = [], maxEndpoints = 50 } = options ?? {};
  if (typeof sender?.sendTest !== "function") throw optionError("sender", sender, "a sender");
  if (typeof authorize !== "function") throw optionError("authorize", authorize, "a function");
  if (!/^(?:\/[\w.~-]+)+$/.test(path)) throw optionError("path", path, "something like /webhooks");
  for (const origin of frameAncestors) {
    if (!/^https?:/.test(origin) || URL.parse(origin)?.origin !== origin)
      throw optionError("frameAncestors", origin, "origins");
  }
  if (!(Number.isSafeInteger(maxEndpoints) && maxEndpoints >= 1)) {
    throw optionError("maxEndpoints", maxEndpoints, "an integer of at least 1");
  }
  const assets = pageAssets(frameAncestors);

  async function respond(request: Request): Promise<Response> {
    const { pathname, search, searchParams: query } = new URL(request.url);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (pathname === path && isRead) {
      // Relative, because the path that the browser asked for may be a longer one.
      const location = `${path.slice(path.lastIndexOf("/") + 1)}/${search}`;
      return new Response(null, { status: 308, headers: { location } });
    }
    if (!pathname.startsWith(`${path}/`)) throw new Problem(404, "there is no such page");
    const name = pathname.slice(path.length + 1);
    if (!name.startsWith("api/")) {
      const asset = assets(name, request);
      if (asset === undefined) throw new Problem(404, "there is no such page");
      if (isRead) return asset;
      throw new Problem(405, "expected GET", { headers: { allow: "GET, HEAD" } });
    }
    checkSameOrigin(request);
    const tenant = await authorize(request);
    if (tenant instanceof Response) return tenant;
    if (tenant === undefined) throw new Problem(401, "sign in first");
    if (!isTenant(tenant)) {
      throw new TypeError(`authorize returned an invalid tenant, expected ${tenantForm}`);
    }
    const segments = name.slice("api/".length).split("/");
    return callPortalApi({ sender, tenant, maxEndpoints, request, segments, query });
  }

  return async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      return problemOf(error).toResponse();
    }
  };
}

const codesOfCallers: ReadonlySet<string> = new Set([
  "ERR_WEBHOOKS_ARGUMENT",
  "ERR_WEBHOOKS_EVENT_NAME",
  "ERR_WEBHOOKS_OPTION",
  "ERR_WEBHOOKS_TARGET",
]);

/** Returns the problem of a fault that the caller can repair; throws any other error. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof WebhookUsageError && codesOfCallers.has(error.code)) {
    return new Problem(422, error.message, { code: error.code });
  }
  throw error;
}
