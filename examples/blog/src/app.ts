import type { Store } from "@fetchwork/documents";
import { wrap, type Handler } from "@fetchwork/http";
import { createApi, createAuthentication, type Api } from "@fetchwork/rest";
import { createWebMiddleware } from "@fetchwork/webhooks";
import type { Sender } from "@fetchwork/webhooks/sender";
import { about } from "./about.ts";
import { resources, routes } from "./api/index.ts";
import { passwordResetRoutes } from "./api/password-reset/index.ts";
import { createSocial } from "./api/social/index.ts";
import { user } from "./api/user/model.ts";
import { webhookRoutes } from "./api/webhook/index.ts";
import type { Config } from "./config.ts";
import { createAccounts } from "./services/accounts.ts";
import { announceChanges } from "./services/announce-changes.ts";
import { createMailer } from "./services/mailer.ts";
import { middlewares, type MiddlewareConfig } from "./services/middlewares.ts";
import { acceptProviderTokens } from "./services/provider-tokens.ts";
import { apiVendor, createApiSender, createReceiver } from "./services/webhooks.ts";

/** Settings of the application. */
export type AppConfig = Pick<Config, "masterKey" | "jwtSecret" | "tokenLifetime"> &
  MiddlewareConfig & {
    readonly [K in "mail" | "providers" | "publicUrl" | "webhookSecret" | "webhooksToPrivate"]?:
      Config[K] | undefined;
  };

/** The application: its API, and what sends its webhooks once it is started. */
export interface App extends Api {
  readonly sender: Sender;
}

/** Puts the API and what stands around it together; tests call it without a server. */
export function createApp(config: AppConfig, store: Store): App {
  const { masterKey, jwtSecret, tokenLifetime, log, trustedProxies, signInLimit } = config;
  const { webhookSecret, webhooksToPrivate = false, providers = [], publicUrl = "", mail } = config;
  const sender = createApiSender(store, { webhooksToPrivate });
  const authentication = createAuthentication({
    masterKey,
    jwtSecret,
    tokenLifetime,
    accounts: createAccounts(store),
  });
  const announced = announceChanges(store, { resources, sender });
  const social = createSocial({ providers, publicUrl, secret: jwtSecret });
  const resets = passwordResetRoutes({
    mailer: mail && createMailer(mail),
    linkOrigins: mail?.linkOrigins ?? [],
  });
  const hasProviders = providers.length > 0;
  const api = createApi({
    title: about.title,
    version: about.version,
    routes: [
      ...routes,
      ...resets,
      ...webhookRoutes(sender),
      ...(hasProviders ? social.routes : []),
    ],
    store: announced,
    authentication: hasProviders
      ? acceptProviderTokens(authentication, providers, { store, client: social.client })
      : authentication,
  });
  const users = store.collection(user.collection);
  const layers = middlewares({
    name: about.name,
    version: about.version,
    checks: [{ name: "documents", check: () => users.find({ limit: 1 }) }],
    log,
    trustedProxies,
    signInLimit,
  });
  const handler = withReceiver(api.handler, webhookSecret);
  return { ...api, handler: wrap(handler, ...layers), sender };
}

/** Puts the receiver of webhooks before the API, when there is a secret to verify them with. */
function withReceiver(handler: Handler, secret: string | undefined): Handler {
  if (secret === undefined) return handler;
  const { path } = apiVendor;
  const receive = createWebMiddleware(createReceiver(secret));
  return (request, context) =>
    // The first look is cheap, and no for nearly every request.
    request.url.includes(path) && new URL(request.url).pathname === path
      ? receive(request, context)
      : handler(request, context);
}
