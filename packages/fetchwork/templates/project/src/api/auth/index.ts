import { accountAuthRoutes, type AccountParts } from "@fetchwork/rest/accounts";

/** The ways to sign in. */
export const authRoutes: AccountParts["auth"] = accountAuthRoutes;
