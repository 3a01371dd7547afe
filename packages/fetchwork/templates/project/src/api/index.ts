// `fetchwork add` writes this file as a whole: what `index.ts` of each folder exports as `<name>Routes`, and its model.
import type { Resource, Route } from "@fetchwork/rest";
import type { AccountRoute } from "@fetchwork/rest/accounts";
import { user } from "./user/model.ts";

/** Resources whose documents are stored. */
export const resources: readonly Resource[] = [user];

/** Routes that need nothing but the store. */
export const routes = [] satisfies readonly Route[];

/** The routes as a typed client knows them: `createClient<ApiRoutes>`. */
export type ApiRoutes = readonly (AccountRoute | (typeof routes)[number])[];
