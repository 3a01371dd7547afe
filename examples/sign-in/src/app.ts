import { readFileSync } from "node:fs";
import type { Store } from "@fetchwork/documents";
import { createApi, createAttemptLimiter, defineRoute, type Api } from "@fetchwork/rest";
import { accounts, defineUser, type Mailer, type OpenAccounts } from "@fetchwork/rest/accounts";

const page = readFileSync(new URL("../page/page.html", import.meta.url), "utf8");

const showPage = defineRoute({
  method: "GET",
  path: "/page",
  operation: "showPage",
  summary: "Show the page",
  tag: "page",
  access: "public",
  responses: { 200: { description: "The page" } },
  handle: () => new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } }),
});

/** What differs from one place where the program runs to another. */
export interface AppOptions {
  readonly store: Store;
  /** Origin under which browsers reach it. Browsers have passkeys for `http://localhost`, and by HTTPS. */
  readonly origin: string;
  readonly mailer: Mailer;
  readonly masterKey: string;
  readonly jwtSecret: string;
}

/** Puts accounts that everyone may make, and the page, together. */
export function createApp({ store, ...settings }: AppOptions): {
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
  const { authentication, routes } = opened;
  const api = createApi({
    title,
    version: "1.0.0",
    store,
    authentication,
    routes: [...routes, showPage],
  });
  return { api, accounts: opened };
}
