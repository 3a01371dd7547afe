import { accountAuthRoutes, type AccountParts } from "@fetchwork/rest/accounts";

/** The ways to sign in; `fetchwork eject auth` writes them out. */
export const authRoutes: AccountParts["auth"] = accountAuthRoutes;
