// #if users
import { userRoutes as routesOf, type AccountParts } from "@fetchwork/rest/accounts";
import { createUserController } from "./controller.ts";

export const userRoutes: AccountParts["users"] = (context) =>
  routesOf(context, createUserController(context));
// #endif
