import { openStore } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { openIdConnect } from "@fetchwork/oauth2/sign-in";
import { createApi } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { providerSignIn } from "@fetchwork/rest/accounts/providers";
import { expect, type Platform } from "../platform.ts";

/** Sends a browser to a provider, and refuses a callback that nobody has started. */
export async function smoke(_platform: Platform): Promise<void> {
  const store = await openStore("sqlite::memory:");
  const origin = "http://localhost";
  const jwtSecret = "j".repeat(32);
  const secrets = { masterKey: "m".repeat(32), jwtSecret };
  const opened = accounts({ user: defineUser() }).open(store, {
    title: "Test",
    origin,
    ...secrets,
  });
  const issuer = "https://home.example";
  const metadata = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  const home = { name: "home", preset: { ...openIdConnect(issuer), metadata }, clientId: "id" };
  const signIn = providerSignIn(opened, { providers: [home], origin, secret: jwtSecret });
  const routes = [...opened.routes, ...signIn.routes];
  const { authentication } = signIn;
  const { handler } = createApi({ title: "T", version: "1", store, authentication, routes });
  const send = async (path: string): Promise<Response> =>
    runHandler(handler, new Request(`${origin}${path}`));
  const started = await send("/auth/home?redirect=/app");
  expect("a start", started.status, 302);
  expect("the way", started.headers.get("location")?.startsWith(`${issuer}/auth?`), true);
  expect("a page elsewhere", (await send("/auth/home?redirect=https://evil.example")).status, 400);
  expect("a forged callback", (await send("/auth/home/callback?code=c&state=s")).status, 400);
  await store.close();
}
