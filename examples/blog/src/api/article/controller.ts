import { createResourceController } from "@fetchwork/rest";
import { article } from "./model.ts";

export const articleController = createResourceController(article);
