// #if users
import type { Resource, Route } from "@fetchwork/rest";
import type { AccountRoute } from "@fetchwork/rest/accounts";
import { user } from "./user/model.ts";

// #endif
// #if !users
//+ import type { Resource, Route } from "@fetchwork/rest";
//+
// #endif
/** Resources whose documents are stored; `fetchwork add` writes new ones here. */
// #if users
export const resources: readonly Resource[] = [user];
// #endif
// #if !users
//+ export const resources: readonly Resource[] = [];
// #endif

/** Routes that need nothing but the store. */
export const routes = [] satisfies readonly Route[];

/** The routes as a typed client knows them: `createClient<ApiRoutes>`. */
// #if users
export type ApiRoutes = readonly (AccountRoute | (typeof routes)[number])[];
// #endif
// #if !users
//+ export type ApiRoutes = typeof routes;
// #endif
