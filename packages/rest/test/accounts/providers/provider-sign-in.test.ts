import { spawnSync } from "node:child_process";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import {
  atProvider,
  clientSecret,
  cookieOf,
  home,
  join,
  linkAs,
  openTestApi,
  outcomeOf,
  signInByPassword,
  start,
  user,
  withParam,
  useProvider,
} from "./provider-api.ts";
import { issueToken, passwordResets } from "../../../src/accounts/mails/mailed-tokens.ts";
import { accounts } from "../../../src/accounts/accounts.ts";
import { identityCollection } from "../../../src/accounts/providers/identity.ts";
import { defineUser } from "../../../src/accounts/users/define-user.ts";
import { Problem } from "../../../src/problem.ts";

useProvider();

describe("signing in with a provider", () => {
  it.each([
    ["is not there, nor loaded, without providers", "[]", 404, false],
    ["is loaded when somebody comes", "[home]", 503, true],
  ])("%s", (_what, providers, status, isLoaded) => {
    const script = `
      const { openStore } = await import("@fetchwork/documents");
      const { createContext } = await import("@fetchwork/http");
      const { createApi } = await import("@fetchwork/rest");
      const { accounts, defineUser } = await import("@fetchwork/rest/accounts");
      const { providerSignIn } = await import("@fetchwork/rest/accounts/providers");
      console.error = () => {};
      const home = { name: "home", issuer: "http://127.0.0.1:9", clientId: "id", audience: "a" };
      const store = await openStore("sqlite::memory:");
      const secret = "j".repeat(32);
      const settings = { title: "T", masterKey: "m".repeat(32), jwtSecret: secret };
      const opened = accounts({ user: defineUser() }).open(store, settings);
      const options = { providers: ${providers}, origin: "http://localhost", secret };
      const { authentication, routes } = providerSignIn(opened, options);
      const all = [...opened.routes, ...routes];
      const { handler } = createApi({ title: "T", version: "1", store, authentication, routes: all });
      const before = globalThis.loaded;
      const request = new Request("http://localhost/auth/home");
      const { status } = await handler(request, createContext(request));
      console.log(JSON.stringify({ before, status, after: globalThis.loaded }));`;
    const hook = `
      import { registerHooks } from "node:module";
      globalThis.loaded = false;
      registerHooks({ load(url, context, next) {
        if (url.includes("/oauth2/")) globalThis.loaded = true;
        return next(url, context);
      } });`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        "--conditions=@fetchwork/source",
        `--import=data:text/javascript,${encodeURIComponent(hook)}`,
        "--input-type=module",
        "-e",
        script,
      ],
      { encoding: "utf8", cwd: import.meta.dirname },
    );
    const expected = { before: false, status, after: isLoaded };
    expect([stderr, JSON.parse(stdout)]).toEqual(["", expected]);
  });

  it("sends the browser there with state, PKCE and nonce, and a cookie that scripts cannot read", async () => {
    const { origin } = await openTestApi();
    const response = await fetch(`${origin}/auth/home`, { redirect: "manual" });
    const { searchParams } = new URL(response.headers.get("location") ?? "");
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: "blog",
      redirect_uri: `${origin}/auth/home/callback`,
      code_challenge_method: "S256",
      nonce: expect.any(String),
    });
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^sign-in-[\w-]{16}=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    expect(cookie).not.toContain(searchParams.get("state"));
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { status } = await fetch(`${origin}/auth/unknown`, { redirect: "manual" });
    expect(status).toBe(404);
  });

  it.each([
    [["openid", "offline_access"], { scope: "openid email profile offline_access" }],
    [undefined, { scope: "openid email profile offline_access" }],
    [["openid"], { scope: "openid email profile", access_type: "offline" }],
  ])("asks for a refresh token as a provider with the scopes %j wants it", async (scopes, sent) => {
    const server = await serve(
      (request) => {
        const { origin } = new URL(request.url);
        const endpoint = `${origin}/auth`;
        const metadata = { issuer: origin, authorization_endpoint: endpoint };
        return Response.json({ ...metadata, scopes_supported: scopes });
      },
      { port: 0, hostname: "127.0.0.1", signals: false },
    );
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const { origin } = await openTestApi(server.url.replace(/\/$/, ""), { keepsTokens: true });
    const { searchParams } = new URL((await start(origin)).location);
    expect(Object.fromEntries(searchParams)).toMatchObject({ ...sent, prompt: "consent" });
    expect(searchParams.get("access_type")).toBe("access_type" in sent ? "offline" : null);
  });

  it("creates a user of the verified address, once", async () => {
    const api = await openTestApi();
    const first = await api.signIn();
    expect([first.status, first.json.user]).toMatchObject([
      201,
      { email: "ada@example.com", name: "Ada L.", role: "user" },
    ]);
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(first.headers.getSetCookie()[0]).toMatch(/^sign-in-[\w-]{16}=; .*Max-Age=0$/);
    const me = await api.get("/users/me", first.json.token);
    expect([me.status, me.json.id]).toEqual([200, first.json.user.id]);
    home.person = { sub: "user-1" };
    const second = await api.signIn();
    expect([second.status, second.json.user.id]).toEqual([201, first.json.user.id]);
    expect(await api.store.collection(user.collection).count()).toBe(1);
  });

  it("creates no user whom the hook of creations refuses, and else what it makes of one", async () => {
    const created: unknown[] = [];
    const guarded = defineUser({
      schema: z.object({ plan: z.string().default("free"), origin: z.string().optional() }),
      fields: { origin: { write: "nobody" } },
      hooks: {
        beforeCreate({ fields }) {
          if (!fields.email.endsWith("@example.com")) throw new Problem(403);
          return { ...fields, origin: "a hook" };
        },
        afterCreate: ({ document }) => void created.push(document.email),
      },
    });
    const api = await openTestApi(undefined, { users: accounts({ user: guarded }) });
    const { email } = home.person;
    home.person["email"] = "ada@other.example";
    expect((await api.signIn()).status).toBe(403);
    expect(await api.store.collection(guarded.collection).count()).toBe(0);
    expect(await api.store.collection(identityCollection).count()).toBe(0);
    home.person["email"] = email;
    const first = await api.signIn();
    expect(first.status).toBe(201);
    const stored = await api.store.collection(guarded.collection).get(first.json.user.id);
    expect(stored).toMatchObject({ plan: "free", origin: "a hook", verified: true });
    expect(created).toEqual(["ada@example.com"]);
  });

  it("finds the user who has the verified address already", async () => {
    const api = await openTestApi();
    const { id } = await join(api, "ada@example.com");
    const { status, json } = await api.signIn();
    expect([status, json.user.id]).toEqual([201, id]);
  });

  it("signs out the person who made an account with the address before, for good", async () => {
    const api = await openTestApi();
    const { id, token } = await join(api, "ada@example.com");
    const links = api.store.collection(identityCollection);
    await links.insert({ issuer: home.provider.issuer, sub: "user-2", userId: id });
    const owner = await api.signIn();
    expect(owner.status).toBe(201);
    expect((await api.get("/users/me", token)).status).toBe(401);
    expect((await signInByPassword(api, "ada@example.com")).status).toBe(401);
    expect((await links.find()).map(({ sub }) => sub)).toEqual(["user-1"]);
    expect((await api.signIn()).json.user.id).toBe(owner.json.user.id);
  });

  it("keeps password and sessions of a user who has proved to own the address", async () => {
    const api = await openTestApi();
    const { id } = await join(api, "ada@example.com");
    await api.store.collection(user.collection).update(id, { verified: true });
    const session = await signInByPassword(api, "ada@example.com");
    const { json } = await api.signIn();
    expect(json.user.id).toBe(id);
    expect((await api.get("/users/me", session.json.token)).status).toBe(200);
  });

  it("with a linked account ends when the owner of the address sets a lost password", async () => {
    const api = await openTestApi();
    const { id, token } = await join(api, "ada@example.com");
    home.person = { sub: "user-1" };
    await linkAs(api, token);
    const stored = await api.store.collection(user.collection).get(id);
    const reset = stored && (await issueToken(api, passwordResets, stored));
    const response = await fetch(`${api.origin}/password-resets/${reset}`, {
      method: "PUT",
      body: new URLSearchParams({ password: "of the owner" }),
    });
    expect(response.status).toBe(200);
    expect((await api.signIn()).status).toBe(409);
    expect(await api.store.collection(identityCollection).count()).toBe(0);
  });

  it.each([
    ["is not verified", { email_verified: false }],
    ["is not said to be verified", { email_verified: undefined }],
    ["is verified with a text", { email_verified: "true" }],
    ["is missing", { email: undefined }],
    ["is not an address", { email: "ada@" }],
  ])("answers 409 with a way to link when the address %s", async (_what, changed) => {
    const api = await openTestApi();
    await join(api, "ada@example.com");
    home.person = { ...home.person, ...changed };
    const { status, headers, json } = await api.signIn();
    expect([status, headers.get("link")]).toEqual([409, '</auth/home/links>; rel="related"']);
    expect(json.detail).toContain("POST /auth/home/links");
    expect(await api.store.collection(identityCollection).count()).toBe(0);
    expect(await api.store.collection(user.collection).count()).toBe(1);
  });

  it("links the account to the user who is signed in, without a verified address", async () => {
    const api = await openTestApi();
    const { id, token } = await join(api, "grace@example.com");
    home.person = { sub: "user-1" };
    const links = `${api.origin}/auth/home/links`;
    expect((await fetch(links, { method: "POST" })).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    const begun = await outcomeOf(await fetch(links, { method: "POST", headers }));
    expect(begun.status).toBe(201);
    const done = await api.signIn({ location: begun.json.url, cookie: cookieOf(begun.headers) });
    expect([done.status, done.json.user.id]).toEqual([201, id]);
    expect((await api.signIn()).json.user.id).toBe(id);
    const other = await join(api, "eve@example.com");
    const stolen = await outcomeOf(
      await fetch(links, { method: "POST", headers: { authorization: `Bearer ${other.token}` } }),
    );
    const refused = await api.signIn({
      location: stolen.json.url,
      cookie: cookieOf(stolen.headers),
    });
    expect(refused.status).toBe(409);
    expect((await api.signIn()).json.user.id).toBe(id);
  });

  it("does not link for an API key", async () => {
    const api = await openTestApi();
    const { id, token } = await join(api, "grace@example.com");
    const made = await fetch(`${api.origin}/users/me/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "all", scopes: ["*:read", "*:write"] }),
    });
    const { key } = (await outcomeOf(made)).json;
    for (const [method, path] of [
      ["POST", "/auth/home/links"],
      ["GET", "/auth/home/userinfo"],
      ["GET", `/users/${id}/links`],
    ] as const) {
      const headers = { authorization: `Bearer ${key}` };
      const refused = await fetch(`${api.origin}${path}`, { method, headers });
      expect(refused.status).toBe(403);
    }
  });

  it("does not link for a session that has ended in the meantime", async () => {
    const api = await openTestApi();
    const { token } = await join(api, "grace@example.com");
    const headers = { authorization: `Bearer ${token}` };
    const links = `${api.origin}/auth/home/links`;
    const begun = await outcomeOf(await fetch(links, { method: "POST", headers }));
    await fetch(`${api.origin}/auth`, { method: "DELETE", headers });
    const done = await api.signIn({ location: begun.json.url, cookie: cookieOf(begun.headers) });
    expect(done.status).toBe(400);
    expect(await api.store.collection(identityCollection).count()).toBe(0);
  });

  it("treats one whose user was deleted as new", async () => {
    const api = await openTestApi();
    const first = await api.signIn();
    await api.store.collection(user.collection).remove(first.json.user.id);
    const second = await api.signIn();
    expect(second.status).toBe(201);
    expect(second.json.user.id).not.toBe(first.json.user.id);
  });

  it("returns to the page that it was started with, with a session in a cookie", async () => {
    const api = await openTestApi();
    const page = `${api.origin}/app?tab=2`;
    const { location, cookie } = await start(api.origin, page);
    const callback = await atProvider(location, api.origin);
    const done = await fetch(callback, { headers: { cookie }, redirect: "manual" });
    expect([done.status, done.headers.get("location")]).toEqual([302, page]);
    expect(await done.text()).toBe("");
    const [session = "", removal = ""] = done.headers.getSetCookie();
    expect(removal).toMatch(/^sign-in-[\w-]{16}=; .*Max-Age=0$/);
    expect(session).toMatch(/^session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=60$/);
    const kept = { cookie: session.split(";")[0] ?? "" };
    const me = async (site: string) =>
      fetch(`${api.origin}/users/me`, { headers: { ...kept, "sec-fetch-site": site } });
    const shown = await me("same-origin");
    expect([shown.status, (await outcomeOf(shown)).json.email]).toEqual([200, "ada@example.com"]);
    expect((await me("cross-site")).status).toBe(401);
  });

  it("returns to a path, and to a page of an origin that is allowed", async () => {
    const api = await openTestApi(undefined, { origins: ["https://app.example"] });
    for (const [page, target] of [
      ["/app", `${api.origin}/app`],
      ["https://app.example/", "https://app.example/"],
    ] as const) {
      const { location, cookie } = await start(api.origin, page);
      const callback = await atProvider(location, api.origin);
      const done = await fetch(callback, { headers: { cookie }, redirect: "manual" });
      expect([done.status, done.headers.get("location")]).toEqual([302, target]);
    }
  });

  it("tells the page why it failed", async () => {
    const api = await openTestApi();
    const page = `${api.origin}/app`;
    home.person = { sub: "user-1", email: "ada@example.com", email_verified: false };
    for (const error of ["link_required", "access_denied"]) {
      const { cookie, location } = await start(api.origin, page);
      const back = await atProvider(location, api.origin);
      const callback = error === "access_denied" ? withParam(back, "error", error) : back;
      const done = await fetch(callback, { headers: { cookie }, redirect: "manual" });
      expect([done.status, done.headers.get("location")]).toEqual([302, `${page}?error=${error}`]);
      expect(done.headers.getSetCookie()).toHaveLength(1);
    }
  });

  it.each([
    "https://evil.example/app",
    "http://127.0.0.1:1/app",
    "//evil.example",
    "javascript:alert(1)",
    "data:text/html,hi",
    "http://127.0.0.1@evil.example",
    "http://ada:pw@HOST/app",
    "",
  ])("is not started with a page of another origin: %j", async (given) => {
    const { origin } = await openTestApi();
    const page = given.replace("HOST", new URL(origin).host);
    const address = `${origin}/auth/home?redirect=${encodeURIComponent(page)}`;
    const { json, status, headers } = await outcomeOf(await fetch(address, { redirect: "manual" }));
    expect([status, json.param, headers.get("location")]).toEqual([400, "redirect", null]);
  });

  it.each([
    ["no cookie", (url: URL) => [url, ""]],
    ["a cookie that was changed", (url: URL, cookie: string) => [url, `${cookie.slice(0, -2)}AA`]],
    [
      "a cookie whose expiry was changed",
      (url: URL, cookie: string) => [url, cookie.replace(/=\d+/, "=99999999999")],
    ],
    ["another state", (url: URL, cookie: string) => [withParam(url, "state", "x"), cookie]],
    [
      "another issuer",
      (url: URL, cookie: string) => [withParam(url, "iss", "https://evil.example"), cookie],
    ],
    ["another code", (url: URL, cookie: string) => [withParam(url, "code", "x"), cookie]],
    ["a refusal", (url: URL, cookie: string) => [withParam(url, "error", "access_denied"), cookie]],
  ] as const)("refuses a callback with %s", async (_what, change) => {
    const api = await openTestApi();
    const { location, cookie } = await start(api.origin);
    const [url, sent] = change(await atProvider(location, api.origin), cookie) as [URL, string];
    const { status, json } = await outcomeOf(await fetch(url, { headers: { cookie: sent } }));
    expect([status, json.token]).toEqual([400, undefined]);
    expect(await api.store.collection(user.collection).count()).toBe(0);
  });

  it("refuses the callback of a sign-in that began in another browser", async () => {
    const api = await openTestApi();
    const mine = await start(api.origin);
    const theirs = await start(api.origin);
    const callback = await atProvider(theirs.location, api.origin);
    const answer = await fetch(callback, { headers: { cookie: mine.cookie } });
    expect(answer.status).toBe(400);
  });

  it("answers 503 while the provider does not serve, and asks it again", async () => {
    const reports = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => reports.mockRestore());
    let isDown = true;
    const server = await serve(
      (request) => {
        const { origin } = new URL(request.url);
        if (isDown) return new Response("down", { status: 500 });
        return Response.json({ issuer: origin, authorization_endpoint: `${origin}/auth` });
      },
      { port: 0, hostname: "127.0.0.1", signals: false },
    );
    onTestFinished(() => server.close({ gracePeriod: 0 }));
    const api = await openTestApi(server.url.replace(/\/$/, ""));
    expect((await api.get("/auth/home")).status).toBe(503);
    expect(JSON.stringify(reports.mock.calls)).not.toContain(clientSecret);
    isDown = false;
    await start(api.origin);
  });
});
