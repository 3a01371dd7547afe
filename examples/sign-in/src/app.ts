import { readFileSync } from "node:fs";
import type { Store } from "@fetchwork/documents";
import { createApi, createAttemptLimiter, defineRoute, type Api } from "@fetchwork/rest";
import { accounts, defineUser, type Mailer, type OpenAccounts } from "@fetchwork/rest/accounts";

const files = { "/page": ["page.html", "text/html"], "/page.js": ["page.js", "text/javascript"] };

const pages = Object.entries(files).map(([path, [name = "", type = ""]]) => {
  const content = readFileSync(new URL(`../page/${name}`, import.meta.url), "utf8");
  return defineRoute({
    method: "GET",
    path,
    operation: `show ${name}`,
    summary: `Show ${name}`,
    tag: "page",
    access: "public",
    responses: { 200: { description: "The file" } },
    handle: () => new Response(content, { headers: { "content-type": `${type}; charset=utf-8` } }),
  });
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
    routes: [...routes, ...pages],
  });
  return { api, accounts: opened };
}
