// #if users
import type { Resource } from "@fetchwork/rest";
// #endif
// #if !users
//+ import type { Resource, Route } from "@fetchwork/rest";
// #endif
import { authRoutes } from "./auth/index.ts"; // #if users
import { userRoutes } from "./user/index.ts"; // #if users
import { user } from "./user/model.ts"; // #if users

/** Resources whose documents are stored; `fetchwork add` writes new ones here. */
// #if users
export const resources: readonly Resource[] = [user];
// #endif
// #if !users
//+ export const resources: readonly Resource[] = [];
// #endif

// #if users
/** Routes that need nothing but the store. A typed client knows them: `createClient<typeof routes>`. */
export const routes = [...userRoutes, ...authRoutes];
// #endif
// #if !users
//+ /** Routes that need nothing but the store. A typed client knows them: `createClient<typeof routes>`. */
//+ export const routes = [] satisfies readonly Route[];
// #endif
