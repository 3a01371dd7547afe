import type { Route } from "../plan/route.ts";
import type { AccountOperation } from "./account-operations.ts";

/** A route of accounts, where users have own fields. */
export type AccountRoute<Own = unknown, Given = unknown> = Route<AccountOperation<Own, Given>>;

const tagDescriptions: Readonly<Record<string, string>> = {
  users: "Accounts: profiles, passwords and roles. `me` as id is the caller",
  auth: "Sign in and out: sessions, API keys, second factors, passkeys and email addresses",
  "password-resets": "Lost passwords",
};

/** Adds to a route the types for the typed client, and to its group a description. */
export function accountRoute<Types = AccountOperation>(route: Route): Route<Types> {
  const tagDescription = tagDescriptions[route.tag] ?? route.tagDescription;
  return { ...route, tagDescription, types: undefined };
}
