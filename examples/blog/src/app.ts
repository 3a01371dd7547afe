import type { Store } from "@fetchwork/documents";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import { routes } from "./api/index.ts";
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts";

/** Puts the API together; tests call it without a server. */
export function createApp(
  config: Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime">,
  store: Store,
): Api {
  const { masterKey, jwtSecret, tokenLifetime } = config;
  return createApi({
    title: "Blog",
    version: "1.0.0",
    description: "Users, sessions and articles.",
    routes,
    store,
    authentication: createAuthentication({
      masterKey,
      jwtSecret,
      tokenLifetime,
      accounts: createAccounts(store),
    }),
  });
}
