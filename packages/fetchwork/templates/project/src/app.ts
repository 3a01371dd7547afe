import { administer, type Store } from "@fetchwork/documents";
import { wrap } from "@fetchwork/http";
// #if users
import { createApi, type Api } from "@fetchwork/rest";
import type { OpenAccounts } from "@fetchwork/rest/accounts";
// #endif
import { providerSignIn } from "@fetchwork/rest/accounts/providers"; // #if oidc
// #if !users
//+ import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
// #endif
import type { Sender } from "@fetchwork/webhooks/sender"; // #if webhooks
import { about } from "./about.ts";
import { routes } from "./api/index.ts";
import { webhookRoutes } from "./api/webhook/index.ts"; // #if webhooks
import type { Config } from "./config.ts";
import { account } from "./services/accounts.ts"; // #if users
import type { Log } from "./services/log.ts";
import { createMailer } from "./services/mailer.ts"; // #if resets
import { middlewares } from "./services/middlewares.ts";
import { createSignInLimits } from "./services/sign-in-limits.ts"; // #if users
import { createApiSender, withReceiver } from "./services/webhooks.ts"; // #if webhooks

/** Settings of the application; only its secrets and the validity of its tokens are needed. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> & {
  readonly [K in keyof Config]?: Config[K] | undefined;
} & { readonly logs?: Log | undefined };

/** The application: its API, and what is started and stopped with it. */
export interface App extends Api {
  readonly sender: Sender; // #if webhooks
  readonly accounts: OpenAccounts; // #if users
}

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): App {
  const { masterKey, jwtSecret, tokenLifetime } = config; // #if users
  // #if !users
  //+ const { masterKey } = config;
  // #endif
  const { mail } = config; // #if resets
  const { publicUrl = "http://localhost" } = config; // #if users
  const { providers = [] } = config; // #if oidc
  const limits = createSignInLimits(store, config); // #if users
  // #if users
  const accounts = account.open(store, {
    title: about.title,
    masterKey,
    jwtSecret,
    tokenLifetime,
    origin: publicUrl,
    mailer: mail && createMailer(mail), // #if resets
    linkOrigins: mail?.linkOrigins, // #if resets
    attempts: limits.passwords,
    mailLimiter: limits.mails,
    signUpLimiter: limits.signUps,
    report: config.logs?.failed,
  });
  // #endif
  // #if users && !oidc
  //+ const { authentication } = accounts;
  // #endif
  // #if !users
  //+ const authentication = createAuthentication({ masterKey });
  // #endif
  // #if oidc
  const { authentication, routes: signInRoutes } = providerSignIn(accounts, {
    providers,
    origin: publicUrl,
    secret: jwtSecret,
  });
  // #endif
  const sender = createApiSender(store, config); // #if webhooks
  const api = createApi({
    title: about.title,
    version: about.version,
    routes: [
      ...accounts.routes, // #if users
      ...routes, // those of src/api
      ...webhookRoutes(sender), // #if webhooks
      ...signInRoutes, // #if oidc
    ],
    reportError: config.logs?.failed,
    store,
    authentication,
  });
  // It writes, because a store whose disk is full still reads.
  const checks = [{ name: "documents", check: () => administer(store).probe() }];
  const settings = { ...config, name: about.name, version: about.version, checks };
  // #if users
  const layers = middlewares({ ...settings, signIns: limits.requests });
  // #endif
  // #if !users
  //+ const layers = middlewares(settings);
  // #endif
  const handler = withReceiver(api.handler, config.webhookSecret); // #if webhooks
  // #if !webhooks
  //+ const { handler } = api;
  // #endif
  return {
    ...api,
    handler: wrap(handler, ...layers),
    sender, // #if webhooks
    accounts, // #if users
  };
}
