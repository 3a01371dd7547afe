import type { AccessRule } from "../access.ts";
import type { ResourceCall } from "./call.ts";

/** Operations of a resource. */
export type Operation = "list" | "show" | "create" | "update" | "remove" | "restore";

/**
 * Decides whether a call may go on. For show, update, remove and restore, `call.document` is the document at the
 * address, or `undefined` when there is none; then `true` leads to 404. Who may not gets a 401 without a valid token,
 * and else a 403.
 */
export type AccessFunction = (call: ResourceCall<unknown>) => boolean | Promise<boolean>;

/**
 * Rules that an operation of a resource may have: those of routes; `owner`, which lets pass the user who created the
 * document, and admins; and a function.
 */
export type ResourceRule =
  AccessFunction | Exclude<AccessRule, "password" | "master+password"> | "owner";
