import { readFileSync } from "node:fs";
import type { Store } from "@fetchwork/documents";
import {
  createApi,
  createAttemptLimiter,
  defineRoute,
  type Api,
  type Route,
} from "@fetchwork/rest";
import { accounts, defineUser, type Mailer, type OpenAccounts } from "@fetchwork/rest/accounts";
import { type AccountProvider, providerSignIn } from "@fetchwork/rest/accounts/providers";

const page = readFileSync(new URL("../page/page.html", import.meta.url), "utf8");

/** What differs from one place where the program runs to another. */
export interface AppOptions {
  readonly store: Store;
  /**
   * Origin under which browsers reach it. Browsers have passkeys for `http://localhost`, and by
   * HTTPS.
   */
  readonly origin: string;
  readonly mailer: Mailer;
  readonly providers: readonly AccountProvider[];
  readonly masterKey: string;
  readonly jwtSecret: string;
}

/** Puts accounts that everyone may make, and the page, together. */
export function createApp({ store, providers, ...settings }: AppOptions): {
  readonly api: Api;
  readonly accounts: OpenAccounts;
} {
  const title = "Sign-in";
  const account = accounts({ user: defineUser(), signUp: "public", signIn: "public" });
  const opened = account.open(store, {
    title,
    ...settings,
    linkOrigins: [settings.origin],
    attempts: createAttemptLimiter(),
    mailLimiter: createAttemptLimiter({ limit: 5 }),
  });
  const { jwtSecret: secret, origin } = settings;
  const { authentication, routes } = providerSignIn(opened, { providers, origin, secret });
  const api = createApi({
    title,
    version: "1.0.0",
    store,
    authentication,
    routes: [...opened.routes, ...routes, pageRoute(providers)],
  });
  return { api, accounts: opened };
}

function pageRoute(providers: readonly AccountProvider[]): Route {
  const links = providers.map(
    ({ name }) => `<a href="/auth/${name}?redirect=/page">Sign in with ${name}</a>`,
  );
  const text = page.replace("<!-- providers -->", links.join(" "));
  return defineRoute({
    method: "GET",
    path: "/page",
    operation: "showPage",
    summary: "Show the page",
    tag: "page",
    access: "public",
    responses: { 200: { description: "The page" } },
    handle: () => new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } }),
  });
}
