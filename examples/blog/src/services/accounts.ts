import { accounts } from "@fetchwork/rest/accounts";
import { authRoutes } from "../api/auth/index.ts";
import { userRoutes } from "../api/user/index.ts";
import { user } from "../api/user/model.ts";

/** Callers who may sign up and in: "master": holders of the key; "public": everyone, by mail. */
const open = { signUp: "master", signIn: "master" } as const;

/** Users and how they sign in. */
export const account = accounts({ user, ...open, parts: { users: userRoutes, auth: authRoutes } });
