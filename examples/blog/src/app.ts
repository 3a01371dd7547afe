import type { Store } from "@fetchwork/documents";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import { routes } from "./api/index.ts";
import { createSocial } from "./api/social/index.ts";
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts";
import { acceptProviderTokens } from "./services/provider-tokens.ts";

/** Puts the API together; tests call it without a server. */
export function createApp(
  config: Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> &
    Partial<Pick<Config, "providers" | "publicUrl">>,
  store: Store,
): Api {
  const { masterKey, jwtSecret, tokenLifetime, providers = [], publicUrl = "" } = config;
  const authentication = createAuthentication({
    masterKey,
    jwtSecret,
    tokenLifetime,
    accounts: createAccounts(store),
  });
  const social = createSocial({ providers, publicUrl, secret: jwtSecret });
  const hasProviders = providers.length > 0;
  return createApi({
    title: "Blog",
    version: "1.0.0",
    description: "Users, sessions and articles.",
    routes: hasProviders ? [...routes, ...social.routes] : routes,
    store,
    authentication: hasProviders
      ? acceptProviderTokens(authentication, providers, { store, client: social.client })
      : authentication,
  });
}
