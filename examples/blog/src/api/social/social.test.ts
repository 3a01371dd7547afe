import { spawnSync } from "node:child_process";
import path from "node:path";
import { serve } from "@fetchwork/http/serve";
import { createPasswordResets } from "@fetchwork/rest";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  atProvider,
  audience,
  callbackUrl,
  clientSecret,
  cookieOf,
  home,
  join,
  linkAs,
  openBlog,
  outcomeOf,
  signInByPassword,
  start,
  withParam,
} from "../../../test/provider-blog.ts";
import { user } from "../user/model.ts";
import { identities } from "./model.ts";

describe("signing in with a provider", () => {
  it.each([
    ["is not there, nor loaded, without providers", "[]", 404, false],
    ["is loaded when somebody comes", "[home]", 503, true],
  ])("%s", (_what, providers, status, isLoaded) => {
    const app = path.join(import.meta.dirname, "../../app.ts");
    const script = `
      const { openStore } = await import("@fetchwork/documents");
      const { createApp } = await import(${JSON.stringify(app)});
      const { createContext } = await import("@fetchwork/http");
      console.error = () => {};
      const home = { name: "home", issuer: "http://127.0.0.1:9", clientId: "id", audience: "a" };
      const secrets = { masterKey: "m".repeat(32), jwtSecret: "j".repeat(32), tokenLifetime: 60 };
      const config = { ...secrets, providers: ${providers}, publicUrl: "http://localhost" };
      const { handler } = createApp(config, await openStore("sqlite::memory:"));
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
    const { origin } = await openBlog();
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
      /^sign-in-home=[\w.-]+; Path=\/auth\/home\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/,
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
    onTestFinished(() => server.close());
    const { origin } = await openBlog(server.url.replace(/\/$/, ""), { keepsTokens: true });
    const { searchParams } = new URL((await start(origin)).location);
    expect(Object.fromEntries(searchParams)).toMatchObject({ ...sent, prompt: "consent" });
    expect(searchParams.get("access_type")).toBe("access_type" in sent ? "offline" : null);
  });

  it("creates a user of the verified address, once", async () => {
    const blog = await openBlog();
    const first = await blog.signIn();
    expect([first.status, first.json.user]).toMatchObject([
      201,
      { email: "ada@example.com", name: "Ada L.", role: "user" },
    ]);
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(first.headers.getSetCookie()[0]).toMatch(/^sign-in-home=; .*Max-Age=0$/);
    const me = await blog.get("/users/me", first.json.token);
    expect([me.status, me.json.id]).toEqual([200, first.json.user.id]);
    home.person = { sub: "user-1" };
    const second = await blog.signIn();
    expect([second.status, second.json.user.id]).toEqual([201, first.json.user.id]);
    expect(await blog.store.collection(user.collection).count()).toBe(1);
  });

  it("finds the user who has the verified address already", async () => {
    const blog = await openBlog();
    const { id } = await join(blog, "ada@example.com");
    const { status, json } = await blog.signIn();
    expect([status, json.user.id]).toEqual([201, id]);
  });

  it("signs out the person who made an account with the address before, for good", async () => {
    const blog = await openBlog();
    const { id, token } = await join(blog, "ada@example.com");
    const links = blog.store.collection(identities);
    await links.insert({ issuer: home.provider.issuer, sub: "user-2", userId: id });
    const owner = await blog.signIn();
    expect(owner.status).toBe(201);
    expect((await blog.get("/users/me", token)).status).toBe(401);
    expect((await signInByPassword(blog, "ada@example.com")).status).toBe(401);
    expect((await links.find()).map(({ sub }) => sub)).toEqual(["user-1"]);
    expect((await blog.signIn()).json.user.id).toBe(owner.json.user.id);
  });

  it("keeps password and sessions of a user who has proved to own the address", async () => {
    const blog = await openBlog();
    const { id } = await join(blog, "ada@example.com");
    await blog.store.collection(user.collection).update(id, { verified: true });
    const session = await signInByPassword(blog, "ada@example.com");
    const { json } = await blog.signIn();
    expect(json.user.id).toBe(id);
    expect((await blog.get("/users/me", session.json.token)).status).toBe(200);
  });

  it("with a linked account ends when the owner of the address sets a lost password", async () => {
    const blog = await openBlog();
    const { id, token } = await join(blog, "ada@example.com");
    home.person = { sub: "user-1" };
    await linkAs(blog, token);
    const resets = createPasswordResets({ users: user.collection });
    const stored = await blog.store.collection(user.collection).get(id);
    const reset = stored && (await resets.issue(blog.store, stored));
    const response = await fetch(`${blog.origin}/password-resets/${reset}`, {
      method: "PUT",
      body: new URLSearchParams({ password: "of the owner" }),
    });
    expect(response.status).toBe(200);
    expect((await blog.signIn()).status).toBe(409);
    expect(await blog.store.collection(identities).count()).toBe(0);
  });

  it.each([
    ["is not verified", { email_verified: false }],
    ["is not said to be verified", { email_verified: undefined }],
    ["is verified with a text", { email_verified: "true" }],
    ["is missing", { email: undefined }],
    ["is no address", { email: "ada@" }],
  ])("answers 409 with a way to link when the address %s", async (_what, changed) => {
    const blog = await openBlog();
    await join(blog, "ada@example.com");
    home.person = { ...home.person, ...changed };
    const { status, headers, json } = await blog.signIn();
    expect([status, headers.get("link")]).toEqual([409, '</auth/home/links>; rel="related"']);
    expect(json.detail).toContain("POST /auth/home/links");
    expect(await blog.store.collection(identities).count()).toBe(0);
    expect(await blog.store.collection(user.collection).count()).toBe(1);
  });

  it("links the account to whoever is signed in, without a verified address", async () => {
    const blog = await openBlog();
    const { id, token } = await join(blog, "grace@example.com");
    home.person = { sub: "user-1" };
    const links = `${blog.origin}/auth/home/links`;
    expect((await fetch(links, { method: "POST" })).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    const begun = await outcomeOf(await fetch(links, { method: "POST", headers }));
    expect(begun.status).toBe(201);
    const done = await blog.signIn({ location: begun.json.url, cookie: cookieOf(begun.headers) });
    expect([done.status, done.json.user.id]).toEqual([201, id]);
    expect((await blog.signIn()).json.user.id).toBe(id);
    const other = await join(blog, "eve@example.com");
    const stolen = await outcomeOf(
      await fetch(links, { method: "POST", headers: { authorization: `Bearer ${other.token}` } }),
    );
    const refused = await blog.signIn({
      location: stolen.json.url,
      cookie: cookieOf(stolen.headers),
    });
    expect(refused.status).toBe(409);
    expect((await blog.signIn()).json.user.id).toBe(id);
  });

  it("does not link for a session that has ended meanwhile", async () => {
    const blog = await openBlog();
    const { token } = await join(blog, "grace@example.com");
    const headers = { authorization: `Bearer ${token}` };
    const links = `${blog.origin}/auth/home/links`;
    const begun = await outcomeOf(await fetch(links, { method: "POST", headers }));
    await fetch(`${blog.origin}/auth`, { method: "DELETE", headers });
    const done = await blog.signIn({ location: begun.json.url, cookie: cookieOf(begun.headers) });
    expect(done.status).toBe(400);
    expect(await blog.store.collection(identities).count()).toBe(0);
  });

  it("treats one whose user was deleted as new", async () => {
    const blog = await openBlog();
    const first = await blog.signIn();
    await blog.store.collection(user.collection).remove(first.json.user.id);
    const second = await blog.signIn();
    expect(second.status).toBe(201);
    expect(second.json.user.id).not.toBe(first.json.user.id);
  });

  it("returns to the page that it was started with, with a session in a cookie", async () => {
    const blog = await openBlog();
    const page = `${blog.origin}/app?tab=2`;
    const { location, cookie } = await start(blog.origin, page);
    const callback = await atProvider(location, blog.origin);
    const done = await fetch(callback, { headers: { cookie }, redirect: "manual" });
    expect([done.status, done.headers.get("location")]).toEqual([302, page]);
    expect(await done.text()).toBe("");
    const [removal = "", session = ""] = done.headers.getSetCookie();
    expect(removal).toMatch(/^sign-in-home=; .*Max-Age=0$/);
    expect(session).toMatch(/^session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=60$/);
    const kept = { cookie: session.split(";")[0] ?? "" };
    const me = async (site: string) =>
      fetch(`${blog.origin}/users/me`, { headers: { ...kept, "sec-fetch-site": site } });
    const shown = await me("same-origin");
    expect([shown.status, (await outcomeOf(shown)).json.email]).toEqual([200, "ada@example.com"]);
    expect((await me("cross-site")).status).toBe(401);
  });

  it("tells the page why it failed", async () => {
    const blog = await openBlog();
    const page = `${blog.origin}/app`;
    home.person = { sub: "user-1", email: "ada@example.com", email_verified: false };
    for (const error of ["link_required", "access_denied"]) {
      const { cookie, location } = await start(blog.origin, page);
      const back = await atProvider(location, blog.origin);
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
    "/app",
    "javascript:alert(1)",
    "data:text/html,hi",
    "http://127.0.0.1@evil.example",
    "http://ada:pw@HOST/app",
    "",
  ])("is not started with a page of another origin: %j", async (given) => {
    const { origin } = await openBlog();
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
    const blog = await openBlog();
    const { location, cookie } = await start(blog.origin);
    const [url, sent] = change(await atProvider(location, blog.origin), cookie) as [URL, string];
    const { status, json } = await outcomeOf(await fetch(url, { headers: { cookie: sent } }));
    expect([status, json.token]).toEqual([400, undefined]);
    expect(await blog.store.collection(user.collection).count()).toBe(0);
  });

  it("refuses the callback of a sign-in that began in another browser", async () => {
    const blog = await openBlog();
    const mine = await start(blog.origin);
    const theirs = await start(blog.origin);
    const callback = await atProvider(theirs.location, blog.origin);
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
    onTestFinished(() => server.close());
    const blog = await openBlog(server.url.replace(/\/$/, ""));
    expect((await blog.get("/auth/home")).status).toBe(503);
    expect(JSON.stringify(reports.mock.calls)).not.toContain(clientSecret);
    isDown = false;
    await start(blog.origin);
  });
});

describe("access with a token of the provider", () => {
  /** Gets an access token as another application of the user does. */
  async function accessToken(
    resource: string,
    client = "blog",
  ): Promise<{ access_token: string; id_token: string }> {
    const redirect = callbackUrl();
    const verifier = "v".repeat(43);
    const digest = await crypto.subtle.digest("SHA-256", Buffer.from(verifier));
    const url = new URL(`${home.provider.issuer}/auth`);
    url.search = new URLSearchParams({
      client_id: client,
      response_type: "code",
      redirect_uri: redirect,
      scope: "openid email",
      resource,
      code_challenge: Buffer.from(digest).toString("base64url"),
      code_challenge_method: "S256",
    }).toString();
    const callback = await atProvider(url.href, new URL(callbackUrl()).origin);
    const response = await fetch(`${home.provider.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${client}:${encodeURIComponent(clientSecret)}`)}` },
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: callback.searchParams.get("code") ?? "",
        redirect_uri: redirect,
        code_verifier: verifier,
      }),
    });
    return (await response.json()) as { access_token: string; id_token: string };
  }

  it("is that of the linked user, with the rules of that user", async () => {
    const blog = await openBlog();
    const { json } = await blog.signIn();
    const { access_token: token } = await accessToken(audience, "other-app");
    const me = await blog.get("/users/me", token);
    expect([me.status, me.json]).toMatchObject([
      200,
      { id: json.user.id, email: "ada@example.com" },
    ]);
    expect((await blog.get("/users", token)).status).toBe(403);
    const changed = await fetch(`${blog.origin}/users/me`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ name: "by token" }),
    });
    expect(changed.status).toBe(200);
    const twice = await blog.get(`/users/me?access_token=${json.token}`, token);
    expect(twice.status).toBe(400);
  });

  it("is found when the settings write the issuer with a slash", async () => {
    const blog = await openBlog(`${home.provider.issuer}/`);
    const { json } = await blog.signIn();
    const { access_token: token } = await accessToken(audience);
    expect((await blog.get("/users/me", token)).json.id).toBe(json.user.id);
  });

  it("is refused for another audience, an ID token, a changed token, and whoever is not linked", async () => {
    const blog = await openBlog();
    const good = await accessToken(audience);
    expect((await blog.get("/users/me", good.access_token)).status).toBe(401);
    await blog.signIn();
    expect((await blog.get("/users/me", good.access_token)).status).toBe(200);
    const [header = "", payload = "", signature = ""] = good.access_token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const other = Buffer.from(JSON.stringify({ ...claims, sub: "user-2" })).toString("base64url");
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url");
    const foreign = await accessToken("https://other.example");
    for (const token of [
      foreign.access_token,
      good.id_token,
      `${header}.${other}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${payload}.`,
    ]) {
      const refused = await blog.get("/users/me", token);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
        401,
        'Bearer realm="api", error="invalid_token"',
      ]);
    }
  });

  it("ends with the user", async () => {
    const blog = await openBlog();
    const { json } = await blog.signIn();
    const { access_token: token } = await accessToken(audience);
    await blog.store.collection(user.collection).remove(json.user.id);
    expect((await blog.get("/users/me", token)).status).toBe(401);
  });
});
