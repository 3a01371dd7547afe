import { administer, type Store } from "@fetchwork/documents";
import { wrap } from "@fetchwork/http";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import type { Sender } from "@fetchwork/webhooks/sender"; // #if webhooks
import { about } from "./about.ts";
import { resources, routes } from "./api/index.ts"; // #if webhooks
// #if !webhooks
//+ import { routes } from "./api/index.ts";
// #endif
import { passwordResetRoutes } from "./api/password-reset/index.ts"; // #if resets
import { createResetMails, type ResetMails } from "./api/password-reset/reset-mails.ts"; // #if resets
import { createSocial } from "./api/social/index.ts"; // #if oidc
import { webhookRoutes } from "./api/webhook/index.ts"; // #if webhooks
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts"; // #if users
import { announceChanges } from "./services/announce-changes.ts"; // #if webhooks
import type { Log } from "./services/log.ts";
import { createMailer } from "./services/mailer.ts"; // #if resets
import { middlewares } from "./services/middlewares.ts";
import { acceptProviderTokens } from "./services/provider-tokens.ts"; // #if oidc
import { createSignInLimits } from "./services/sign-in-limits.ts"; // #if users
import { createApiSender, withReceiver } from "./services/webhooks.ts"; // #if webhooks

/** Settings of the application; only its secrets and the validity of its tokens are needed. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> & {
  readonly [K in keyof Config]?: Config[K] | undefined;
} & { readonly logs?: Log | undefined };

/** The application: its API, and what is started and stopped with it. */
export interface App extends Api {
  readonly sender: Sender; // #if webhooks
  readonly mails: ResetMails | undefined; // #if resets
}

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): App {
  const { masterKey, jwtSecret, tokenLifetime } = config;
  const { mail } = config; // #if resets
  const { providers = [], publicUrl = "" } = config; // #if oidc
  const limits = createSignInLimits(store, config); // #if users
  const authentication = createAuthentication({
    masterKey,
    jwtSecret,
    tokenLifetime,
    accounts: createAccounts(store), // #if users
    attempts: limits.passwords, // #if users
    // #if !users
    //+ // There are no users: all that counts is the master key.
    //+ accounts: { byId: async () => undefined, byEmail: async () => undefined },
    // #endif
  });
  // #if oidc
  const social = createSocial({ providers, publicUrl, secret: jwtSecret });
  const hasProviders = providers.length > 0;
  // #endif
  // #if resets
  const mails = mail && createResetMails(store, createMailer(mail), config.logs?.failed);
  const resets = passwordResetRoutes({ mails, linkOrigins: mail?.linkOrigins, limits });
  // #endif
  const sender = createApiSender(store, config); // #if webhooks
  const api = createApi({
    title: about.title,
    version: about.version,
    routes: [
      ...routes,
      ...resets, // #if resets
      ...webhookRoutes(sender), // #if webhooks
      ...(hasProviders ? social.routes : []), // #if oidc
    ],
    reportError: config.logs?.failed,
    store: announceChanges(store, { resources, sender }), // #if webhooks
    // #if !webhooks
    //+ store,
    // #endif
    // #if oidc
    authentication: hasProviders
      ? acceptProviderTokens(authentication, providers, { store, client: social.client })
      : authentication,
    // #endif
    // #if !oidc
    //+ authentication,
    // #endif
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
    mails, // #if resets
  };
}
