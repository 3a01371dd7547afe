import { resourceRoutes } from "@fetchwork/rest";
import { articleController } from "./controller.ts";
import { article } from "./model.ts";

export const articleRoutes = resourceRoutes(article, articleController);
