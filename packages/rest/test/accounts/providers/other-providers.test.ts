import { openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { openIdConnect, providers, type ProviderPreset } from "@fetchwork/oauth2/sign-in";
import { expect, it, onTestFinished } from "vitest";
import { startProvider } from "../../../../oauth2/test/provider-server.ts";
import type { AccountProvider } from "../../../src/accounts/providers/account-provider.ts";
import { account, apiOf, clientSecret, cookieOf, outcomeOf } from "./provider-api.ts";

/** An API at https, which a proxy would receive; called without a socket. */
async function openSecureApi(provider: AccountProvider) {
  const store = await openStore("sqlite::memory:", { collections: account.collections });
  onTestFinished(() => store.close());
  const { handler } = apiOf(store, { origin: "https://api.example", providers: [provider] });
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(new URL(path, "https://api.example"), init);
    return handler(request, createContext(request));
  };
}

it("a provider that posts a form signs users in", async () => {
  const redirect = "https://api.example/auth/home/callback";
  const server = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [{ client_id: "api", client_secret: clientSecret, redirect_uris: [redirect] }],
    scopes: ["openid", "email", "profile"],
  }));
  onTestFinished(() => server.close());
  const preset = openIdConnect(server.issuer);
  const params = { ...preset.params, response_mode: "form_post" };
  const posts = { ...preset, params };
  const send = await openSecureApi({ name: "home", preset: posts, clientId: "api", clientSecret });
  const started = await send("/auth/home");
  expect(started.headers.getSetCookie()[0]).toMatch(/^__Host-sign-in-.*SameSite=None; Secure/);
  const cookie = cookieOf(started.headers);
  const body = await formOf(started.headers.get("location") ?? "");
  const refused = await send("/auth/home/callback", { method: "POST", body });
  expect(refused.status).toBe(400);
  const headers = { cookie };
  const read = await send(`/auth/home/callback?${body}`, { headers });
  expect(read.status).toBe(405);
  const done = await outcomeOf(
    await send("/auth/home/callback", { method: "POST", headers, body }),
  );
  expect([done.status, done.json.user?.email]).toEqual([201, "ada@example.com"]);
});

/** Signs in at the provider; returns what its form would post. */
async function formOf(first: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let url = new URL(first);
  for (let hop = 0; hop < 10; hop += 1) {
    const cookie = Array.from(cookies, (pair) => pair.join("=")).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) {
      const inputs = (await response.text()).matchAll(/name="(\w+)" value="([^"]*)"/g);
      return new URLSearchParams(Array.from(inputs, ([, name = "", value = ""]) => [name, value]));
    }
    url = new URL(location, url);
  }
  throw new Error(`no form from ${url.href}`);
}

it("a provider without OpenID Connect signs users in, and its profile is shown", async () => {
  let isRevoked = false;
  const server = await serve(
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/token") return Response.json({ access_token: "t", token_type: "bearer" });
      if (isRevoked) return Response.json({}, { status: 401 });
      if (pathname === "/user") return Response.json({ id: 7, login: "ada" });
      return Response.json([{ email: "ada@example.com", verified: true, primary: true }]);
    },
    { port: 0, hostname: "127.0.0.1", signals: false },
  );
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  const at = server.url.replace(/\/$/, "");
  const preset: ProviderPreset = {
    ...providers.github,
    issuer: at,
    metadata: { authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token` },
    resources: { user: `${at}/user`, emails: `${at}/emails` },
  };
  const github = { name: "github", preset, clientId: "api", clientSecret, keepsTokens: true };
  const send = await openSecureApi(github);
  const started = await send("/auth/github");
  const url = new URL(started.headers.get("location") ?? "");
  expect(url.searchParams.get("scope")).toBe("read:user user:email");
  const headers = { cookie: cookieOf(started.headers) };
  const callback = `/auth/github/callback?code=c&state=${url.searchParams.get("state")}`;
  const { json, status } = await outcomeOf(await send(callback, { headers }));
  expect([status, json.user.email, json.user.name]).toEqual([201, "ada@example.com", "ada"]);
  const authorization = `Bearer ${json.token}`;
  const show = async () =>
    outcomeOf(await send("/auth/github/userinfo", { headers: { authorization } }));
  const shown = await show();
  expect([shown.status, shown.json]).toMatchObject([
    200,
    { sub: "7", email: "ada@example.com", email_verified: true, name: "ada" },
  ]);
  isRevoked = true;
  expect((await show()).status).toBe(409);
  expect((await show()).status).toBe(404);
});
