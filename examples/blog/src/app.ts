import type { Store } from "@fetchwork/documents";
import { wrap } from "@fetchwork/http";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import { article } from "./api/article/model.ts";
import { routes } from "./api/index.ts";
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts";
import { middlewares, type MiddlewareConfig } from "./services/middlewares.ts";

/** Settings of the application. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> &
  MiddlewareConfig;

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): Api {
  const { masterKey, jwtSecret, tokenLifetime, log, trustedProxies, signInLimit } = config;
  const api = createApi({
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
  const articles = store.collection(article.collection);
  const layers = middlewares({
    name: "blog",
    version: "1.0.0",
    checks: [{ name: "documents", check: () => articles.find({ limit: 1 }) }],
    log,
    trustedProxies,
    signInLimit,
  });
  return { ...api, handler: wrap(api.handler, ...layers) };
}
