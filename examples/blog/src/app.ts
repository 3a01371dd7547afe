import { administer, type Store } from "@fetchwork/documents";
import { wrap } from "@fetchwork/http";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import type { Sender } from "@fetchwork/webhooks/sender";
import { about } from "./about.ts";
import { resources, routes } from "./api/index.ts";
import { passwordResetRoutes } from "./api/password-reset/index.ts";
import { createResetMails, type ResetMails } from "./api/password-reset/reset-mails.ts";
import { createSocial } from "./api/social/index.ts";
import { webhookRoutes } from "./api/webhook/index.ts";
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts";
import { announceChanges } from "./services/announce-changes.ts";
import type { Log } from "./services/log.ts";
import { createMailer } from "./services/mailer.ts";
import { middlewares } from "./services/middlewares.ts";
import { acceptProviderTokens } from "./services/provider-tokens.ts";
import { createSignInLimits } from "./services/sign-in-limits.ts";
import { createApiSender, withReceiver } from "./services/webhooks.ts";

/** Settings of the application; only its secrets and the validity of its tokens are needed. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> & {
  readonly [K in keyof Config]?: Config[K] | undefined;
} & { readonly logs?: Log | undefined };

/** The application: its API, and what is started and stopped with it. */
export interface App extends Api {
  readonly sender: Sender;
  readonly mails: ResetMails | undefined;
}

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): App {
  const { masterKey, jwtSecret, tokenLifetime } = config;
  const { mail } = config;
  const { providers = [], publicUrl = "" } = config;
  const limits = createSignInLimits(store, config);
  const authentication = createAuthentication({
    masterKey,
    jwtSecret,
    tokenLifetime,
    accounts: createAccounts(store),
    attempts: limits.passwords,
  });
  const social = createSocial({ providers, publicUrl, secret: jwtSecret });
  const hasProviders = providers.length > 0;
  const mails = mail && createResetMails(store, createMailer(mail), config.logs?.failed);
  const resets = passwordResetRoutes({ mails, linkOrigins: mail?.linkOrigins, limits });
  const sender = createApiSender(store, config);
  const api = createApi({
    title: about.title,
    version: about.version,
    routes: [
      ...routes,
      ...resets,
      ...webhookRoutes(sender),
      ...(hasProviders ? social.routes : []),
    ],
    reportError: config.logs?.failed,
    store: announceChanges(store, { resources, sender }),
    authentication: hasProviders
      ? acceptProviderTokens(authentication, providers, { store, client: social.client })
      : authentication,
  });
  // It writes, because a store whose disk is full still reads.
  const checks = [{ name: "documents", check: () => administer(store).probe() }];
  const settings = { ...config, name: about.name, version: about.version, checks };
  const layers = middlewares({ ...settings, signIns: limits.requests });
  const handler = withReceiver(api.handler, config.webhookSecret);
  return {
    ...api,
    handler: wrap(handler, ...layers),
    sender,
    mails,
  };
}
