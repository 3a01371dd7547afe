import { userRoutes as routesOf, type AccountParts } from "@fetchwork/rest/accounts";
import { createUserController } from "./controller.ts";

/** The routes of users. */
export const userRoutes: AccountParts["users"] = (context) =>
  routesOf(context, createUserController(context));
