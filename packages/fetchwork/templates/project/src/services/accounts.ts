// #if users
import { accounts } from "@fetchwork/rest/accounts";
import { authRoutes } from "../api/auth/index.ts";
import { userRoutes } from "../api/user/index.ts";
import { user } from "../api/user/model.ts";

/** Users and how they sign in; with `signUp: "public"` and `signIn: "public"` without the master key. */
export const account = accounts({ user, parts: { users: userRoutes, auth: authRoutes } });
// #endif
