import type { Resource } from "@fetchwork/rest";
import { articleRoutes } from "./article/index.ts";
import { article } from "./article/model.ts";
import { authRoutes } from "./auth/index.ts";
import { userRoutes } from "./user/index.ts";
import { user } from "./user/model.ts";

/** Resources whose documents are stored; `fetchwork add` writes new ones here. */
export const resources: readonly Resource[] = [user, article];

/** Routes that need nothing but the store. A typed client knows them: `createClient<typeof routes>`. */
export const routes = [...userRoutes, ...authRoutes, ...articleRoutes];
