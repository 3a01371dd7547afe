import { articleRoutes } from "./article/index.ts";
import { authRoutes } from "./auth/index.ts";
import { userRoutes } from "./user/index.ts";

export const routes = [...userRoutes, ...authRoutes, ...articleRoutes];
