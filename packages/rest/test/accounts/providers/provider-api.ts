import { openStore, type Store } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { startProvider, type ProviderServer } from "../../../../oauth2/test/provider-server.ts";
import { accounts } from "../../../src/accounts/accounts.ts";
import type {
  AccountProvider,
  ProviderSignInOptions,
} from "../../../src/accounts/providers/account-provider.ts";
import { providerSignIn } from "../../../src/accounts/providers/provider-sign-in.ts";
import { defineUser } from "../../../src/accounts/users/define-user.ts";
import { type Api, createApi } from "../../../src/http/api.ts";
import { masterKey } from "../../api-client.ts";

export const jwtSecret = "j".repeat(32);
export const user = defineUser();
export const account = accounts({ user });

export const audience = "https://api.example";
export const clientSecret = "a secret of the API, thirty-two bytes";

/** The provider of the tests, and who is signed in there. */
export const home: {
  /** Tests change it. */
  person: Record<string, unknown>;
  provider: ProviderServer;
} = { person: {}, provider: undefined as never };
/** Where the provider sends browsers; the API of each test listens there. */
let port: number;

/** Address to which the provider sends browsers back. */
export const callbackUrl = (): string => `http://127.0.0.1:${port}/auth/home/callback`;

/** Starts the provider for the tests of a file. */
export function useProvider(): void {
  beforeAll(async () => {
    const probe = await serve(() => new Response(), {
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      gracePeriod: 0,
    });
    port = probe.port;
    await probe.close();
    const client = {
      client_secret: clientSecret,
      redirect_uris: [`http://127.0.0.1:${port}/auth/home/callback`],
      grant_types: ["authorization_code"],
    };
    home.provider = await startProvider(() => ({
      pkce: { required: () => true },
      clients: [
        { client_id: "blog", ...client },
        { client_id: "other-app", ...client },
      ],
      findAccount: (_ctx, _id) => ({
        accountId: String(home.person["sub"]),
        claims: () => ({ ...home.person, sub: String(home.person["sub"]) }),
      }),
      claims: { openid: ["sub"], profile: ["name", "picture"], email: ["email", "email_verified"] },
      scopes: ["openid", "email", "profile"],
      features: {
        devInteractions: { enabled: false },
        userinfo: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: "openid email profile",
            audience: resource,
            accessTokenFormat: "jwt",
          }),
        },
      },
    }));
  });
  afterAll(async () => home.provider.close());
  beforeEach(() => {
    home.person = { sub: "user-1", email: "Ada@example.com", email_verified: true, name: "Ada L." };
  });
}

export interface TestApi {
  readonly origin: string;
  readonly store: Store;
  /** Goes through a sign-in as a browser does. */
  signIn(start?: Started): Promise<Outcome>;
  get(path: string, token?: string): Promise<Outcome>;
}

export interface Started {
  readonly location: string;
  readonly cookie: string;
}

export interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  readonly json: any; // oxlint-disable-line typescript/no-explicit-any -- tests look into it as it comes
}

export async function outcomeOf(response: Response): Promise<Outcome> {
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, json: text === "" ? undefined : JSON.parse(text) };
}

export const cookieOf = (headers: Headers): string =>
  headers.getSetCookie()[0]?.split(";")[0] ?? "";

interface ApiSettings {
  readonly tokenLifetime?: number;
  readonly users?: Pick<typeof account, "collections" | "open"> | undefined;
}

/** Makes an API of accounts with providers. */
export function apiOf(
  store: Store,
  options: Omit<ProviderSignInOptions, "secret">,
  { tokenLifetime = 60, users = account }: ApiSettings = {},
): Api {
  const secrets = { masterKey, jwtSecret, tokenLifetime };
  const opened = users.open(store, { title: "T", origin: options.origin, ...secrets });
  const { authentication, routes } = providerSignIn(opened, { ...options, secret: jwtSecret });
  const all = [...opened.routes, ...routes];
  return createApi({ title: "T", version: "1", store, authentication, routes: all });
}

export async function openTestApi(
  issuer = home.provider.issuer,
  changed: Partial<AccountProvider> &
    Pick<ApiSettings, "users"> & { readonly origins?: readonly string[] } = {},
): Promise<TestApi> {
  const { origins, users = account, ...settings } = changed;
  const store = await openStore("sqlite::memory:", { collections: users.collections });
  const origin = `http://127.0.0.1:${port}`;
  const home = { name: "home", issuer, clientId: "blog", clientSecret, audience, ...settings };
  const { handler } = apiOf(store, { origin, providers: [home], origins }, { users });
  const server = await serve(handler, {
    port,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  onTestFinished(async () => {
    await server.close({ gracePeriod: 0 });
    await store.close();
  });
  return {
    origin,
    store,
    async signIn(given) {
      const { location, cookie } = given ?? (await start(origin));
      const callback = await atProvider(location, origin);
      return outcomeOf(await fetch(callback, { headers: { cookie } }));
    },
    async get(target, token) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return outcomeOf(await fetch(new URL(target, origin), { headers }));
    },
  };
}

export async function start(origin: string, page?: string): Promise<Started> {
  const query = page === undefined ? "" : `?redirect=${encodeURIComponent(page)}`;
  const response = await fetch(`${origin}/auth/home${query}`, { redirect: "manual" });
  expect(response.status).toBe(302);
  return { location: response.headers.get("location") ?? "", cookie: cookieOf(response.headers) };
}

/** Signs in at the provider; returns where it sends the browser back to. */
export async function atProvider(first: string, until: string): Promise<URL> {
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
    if (location === null) throw new Error(`no way back: ${await response.text()}`);
    url = new URL(location, url);
    if (url.origin === until) return url;
  }
  throw new Error(`no way back from ${url.href}`);
}

export async function join(
  { origin }: TestApi,
  email: string,
): Promise<{ id: string; token: string }> {
  const form = { email, password: "123456", access_token: masterKey };
  const body = new URLSearchParams(form);
  const created = await outcomeOf(await fetch(`${origin}/users`, { method: "POST", body }));
  const session = await signInByPassword({ origin }, email);
  return { id: created.json.id, token: session.json.token };
}

export async function signInByPassword(
  { origin }: Pick<TestApi, "origin">,
  email: string,
): Promise<Outcome> {
  const response = await fetch(`${origin}/auth`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${email}:123456`)}` },
    body: new URLSearchParams({ access_token: masterKey }),
  });
  return outcomeOf(response);
}

/** Links anyone who is signed in at the provider to the user of a token. */
export async function linkAs(api: TestApi, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const links = `${api.origin}/auth/home/links`;
  const begun = await outcomeOf(await fetch(links, { method: "POST", headers }));
  const done = await api.signIn({ location: begun.json.url, cookie: cookieOf(begun.headers) });
  expect(done.status).toBe(201);
}

export function withParam(url: URL, name: string, value: string): URL {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed;
}
