import { administer, type Store } from "@fetchwork/documents";
import { wrap } from "@fetchwork/http";
import { createApi, type Api } from "@fetchwork/rest";
import type { OpenAccounts } from "@fetchwork/rest/accounts";
import { providerSignIn } from "@fetchwork/rest/accounts/providers";
import type { Sender } from "@fetchwork/webhooks/sender";
import { about } from "./about.ts";
import { routes } from "./api/index.ts";
import { webhookRoutes } from "./api/webhook/index.ts";
import type { Config } from "./config.ts";
import { account } from "./services/accounts.ts";
import type { Log } from "./services/log.ts";
import { createMailer } from "./services/mailer.ts";
import { middlewares } from "./services/middlewares.ts";
import { createSignInLimits } from "./services/sign-in-limits.ts";
import { createApiSender, withReceiver } from "./services/webhooks.ts";

/** Settings of the application; only its secrets and the validity of its tokens are needed. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> & {
  readonly [K in keyof Config]?: Config[K] | undefined;
} & { readonly logs?: Log | undefined };

/** The application: its API, and what is started and stopped with it. */
export interface App extends Api {
  readonly sender: Sender;
  readonly accounts: OpenAccounts;
}

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): App {
  const { masterKey, jwtSecret, tokenLifetime } = config;
  const { mail } = config;
  const { publicUrl = "http://localhost" } = config;
  const { providers = [] } = config;
  const limits = createSignInLimits(store, config);
  const accounts = account.open(store, {
    title: about.title,
    masterKey,
    jwtSecret,
    tokenLifetime,
    origin: publicUrl,
    mailer: mail && createMailer(mail),
    linkOrigins: mail?.linkOrigins,
    attempts: limits.passwords,
    mailLimiter: limits.mails,
    signUpLimiter: limits.signUps,
    report: config.logs?.failed,
  });
  const { authentication, routes: signInRoutes } = providerSignIn(accounts, {
    providers,
    origin: publicUrl,
    secret: jwtSecret,
  });
  const sender = createApiSender(store, config);
  const api = createApi({
    title: about.title,
    version: about.version,
    routes: [
      ...accounts.routes,
      ...routes, // those of src/api
      ...webhookRoutes(sender),
      ...signInRoutes,
    ],
    reportError: config.logs?.failed,
    store,
    authentication,
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
    accounts,
  };
}
