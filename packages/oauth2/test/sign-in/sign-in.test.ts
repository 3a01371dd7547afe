import { afterEach, describe, expect, it, vi } from "vitest";
import { OAuth2UsageError } from "../../src/index.ts";
import { signIn } from "../../src/sign-in/index.ts";
import { connect, html, issuer } from "../scripted-provider.ts";
import { handlersOf, Jar, nonces, passSeconds, secret, tokenAnswer } from "./handlers.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("a forged callback", () => {
  it.each([
    ["no parameters", {}],
    ["another state", { code: "c", state: "x".repeat(43) }],
    ["a state of a prototype", { code: "c", state: "__proto__" }],
    ["a huge state", { code: "c", state: "x".repeat(50_000) }],
    ["an error without state", { error: "access_denied" }],
  ])("is refused with %s", async (_name, parameters) => {
    const { auth, sent } = handlersOf();
    const jar = new Jar();
    await jar.login(auth);
    expect((await jar.callback(auth, parameters)).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it("is refused when its state only begins as that of the cookie", async () => {
    const { auth, sent } = handlersOf();
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    const forged = `${state.slice(0, 16)}${"x".repeat(27)}`;
    expect((await jar.callback(auth, { code: "c", state: forged })).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it("is refused in a browser that started no sign-in", async () => {
    const { auth } = handlersOf();
    const state = (await new Jar().login(auth)).get("state") ?? "";
    expect((await new Jar().callback(auth, { code: "c", state })).status).toBe(400);
  });

  it("is refused with the cookie of another sign-in", async () => {
    const { auth } = handlersOf();
    const jar = new Jar();
    const victim = new Jar();
    await jar.login(auth);
    const state = (await victim.login(auth)).get("state") ?? "";
    const [own] = jar.cookies.values();
    victim.cookies.set(`__Host-sign-in-${state.slice(0, 16)}`, own ?? "");
    expect((await victim.callback(auth, { code: "c", state })).status).toBe(400);
  });

  it("is refused by the handlers of another provider", async () => {
    const { auth } = handlersOf();
    const other = handlersOf({}, {}, { redirectUri: "https://app.example/other" });
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    expect((await jar.callback(other.auth, { code: "c", state })).status).toBe(400);
    expect(other.sent).toEqual([]);
  });

  it("is refused with another secret", async () => {
    const jar = new Jar();
    const state = (await jar.login(handlersOf().auth)).get("state") ?? "";
    const { auth } = handlersOf({ secret: secret.toUpperCase() });
    expect((await jar.callback(auth, { code: "c", state })).status).toBe(400);
  });

  it("is refused with the iss of another server, and with none where the server promises one", async () => {
    const metadata = { authorization_response_iss_parameter_supported: true };
    const { auth, sent } = handlersOf({}, {}, { metadata });
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    const evil = await jar.callback(auth, { code: "c", state, iss: "https://<evil>.example" });
    expect(evil.status).toBe(400);
    expect(await evil.text()).not.toContain("<evil>");
    const another = (await jar.login(auth)).get("state") ?? "";
    expect((await jar.callback(auth, { code: "c", state: another })).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it("is refused when it repeats a parameter or uses another method", async () => {
    const { auth } = handlersOf();
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    const url = `https://app.example/cb?code=a&code=b&state=${state}`;
    expect((await jar.send(auth.callback, url)).status).toBe(400);
    const posted = await jar.send(auth.callback, url, { method: "POST", body: "x" });
    expect(posted.status).toBe(405);
    expect(posted.headers.get("allow")).toBe("GET");
  });

  it("is refused with an ID token of another nonce, or without one", async () => {
    const wrong = handlersOf({}, { "/token": () => tokenAnswer({ nonce: "other" }) });
    expect((await new Jar().signIn(wrong.auth)).status).toBe(400);
    const none = handlersOf({}, { "/token": () => Response.json({ access_token: "at" }) });
    expect((await new Jar().signIn(none.auth)).status).toBe(400);
    expect([wrong.signedIn, none.signedIn]).toEqual([[], []]);
  });

  it("is refused when it is repeated, also with a cookie that was kept", async () => {
    const seen = new Set<string>();
    const rememberOnce = (id: string): boolean => seen.size < seen.add(id).size;
    const { auth, signedIn } = handlersOf({ rememberOnce });
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    const kept = [...jar.cookies];
    const callback = { code: "c", state };
    expect((await jar.callback(auth, callback)).status).toBe(303);
    expect((await jar.callback(auth, callback)).status).toBe(400);
    for (const [name, value] of kept) jar.cookies.set(name, value);
    expect((await jar.callback(auth, callback)).status).toBe(400);
    expect(signedIn.length).toBe(1);
  });

  it("is refused after ten minutes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { auth, sent } = handlersOf();
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    passSeconds(601);
    expect((await jar.callback(auth, { code: "c", state })).status).toBe(400);
    expect(sent).toEqual([]);
  });

  it.each([
    ["nothing", () => ""],
    ["no dot", () => "abc"],
    ["no base64", () => "1.%%%"],
    ["a short text", () => "1.AAAA"],
    ["a long text", () => `1.${"A".repeat(60_000)}`],
    [
      "a changed byte",
      (value: string) => `${value.slice(0, -2)}${value.endsWith("AA") ? "BB" : "AA"}`,
    ],
    ["a later expiry", (value: string) => value.replace(/^\d+/, "99999999999")],
    ["JSON", () => '{"state":"x"}'],
  ])("is refused with a cookie that is %s", async (_name, change) => {
    const { auth, sent } = handlersOf();
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    for (const [name, value] of jar.cookies) jar.cookies.set(name, change(value));
    expect((await jar.callback(auth, { code: "c", state })).status).toBe(400);
    expect(sent).toEqual([]);
  });
});

describe("the page to return to", () => {
  it.each([
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "https:evil.example",
    "https://evil.example",
    "https://app.example.evil.example/",
    "https://app.example@evil.example/",
    "https://user:pass@app.example/",
    "http://app.example/",
    "https://app.example:444/",
    "javascript:alert(1)",
    "data:text/html,x",
    "page",
    "",
    " /page",
    "/page\r\nset-cookie: a=b",
    `/${"a".repeat(1000)}`,
  ])("cannot be %j", async (returnTo) => {
    const { auth } = handlersOf();
    const url = `https://app.example/login?${new URLSearchParams({ returnTo })}`;
    const response = await auth.login(new Request(url));
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each([
    ["/page?a=1#b", "https://app.example/page?a=1#b"],
    ["/..//evil.example", "https://app.example//evil.example"],
    ["https://app.example/x", "https://app.example/x"],
    ["https://web.example/x", "https://web.example/x"],
  ])("may be %j", async (returnTo, expected) => {
    const { auth } = handlersOf({ origins: ["https://web.example"] });
    const query = `?${new URLSearchParams({ returnTo })}`;
    const response = await new Jar().signIn(auth, query);
    expect([response.status, response.headers.get("location")]).toEqual([303, expected]);
  });

  it("is checked when the application chooses it, and is the home page by default", async () => {
    const { auth } = handlersOf({ onSignedIn: () => "//evil.example" });
    await expect(new Jar().signIn(auth)).rejects.toThrow(OAuth2UsageError);
    const home = await new Jar().signIn(handlersOf().auth);
    expect(home.headers.get("location")).toBe("https://app.example/");
  });
});

describe("a sign-in", () => {
  it("returns profile, claims, token and data, and removes its cookie", async () => {
    const { auth, signedIn, sent } = handlersOf();
    const jar = new Jar();
    const request = new Request("https://app.example/login");
    const options = { returnTo: "/a", data: { link: "user-1" } };
    const response = await jar.send((one) => auth.start(one, options), request.url);
    const url = new URL(response.headers.get("location") ?? "");
    expect(url.searchParams.get("scope")).toBe("openid email profile");
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    nonces.last = url.searchParams.get("nonce") ?? "";
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-sign-in-[\w-]{16}=\d+\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    expect(cookie).not.toContain(url.searchParams.get("state"));
    const done = await jar.callback(auth, {
      code: "c",
      state: url.searchParams.get("state") ?? "",
    });
    expect(done.status).toBe(303);
    expect(done.headers.get("referrer-policy")).toBe("no-referrer");
    expect(jar.cookies.size).toBe(0);
    const { profile, claims, token, returnTo, data } = signedIn[0] ?? {};
    expect(profile).toEqual({
      issuer,
      id: "user",
      email: "a@b.example",
      emailVerified: false,
      name: undefined,
      picture: undefined,
    });
    expect([claims?.sub, token?.token]).toEqual(["user", "at"]);
    expect([returnTo, data]).toEqual(["https://app.example/a", { link: "user-1" }]);
    expect(sent[0]?.form.get("code_verifier")).toHaveLength(43);
  });

  it("works in two tabs at the same time, and in six at the expense of the first", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { auth } = handlersOf();
    const jar = new Jar();
    const tabs: URLSearchParams[] = [];
    for (let tab = 0; tab < 6; tab += 1) {
      passSeconds(1);
      tabs.push(await jar.login(auth));
    }
    expect(jar.cookies.size).toBe(5);
    const statuses: number[] = [];
    for (const tab of tabs) {
      nonces.last = tab.get("nonce") ?? "";
      const response = await jar.callback(auth, { code: "c", state: tab.get("state") ?? "" });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([400, 303, 303, 303, 303, 303]);
  });

  it("keeps the headers and cookies of the application's response", async () => {
    const headers = { "set-cookie": "session=1", location: "/x" };
    const onSignedIn = (): Response => new Response(null, { status: 302, headers });
    const response = await new Jar().signIn(handlersOf({ onSignedIn }).auth);
    expect(response.headers.getSetCookie()).toHaveLength(2);
    const immutable = handlersOf({ onSignedIn: () => Response.redirect("https://x.example/") });
    expect((await new Jar().signIn(immutable.auth)).headers.get("location")).toContain("x.example");
  });

  it("asks the userinfo endpoint when the ID token has no email, and refuses another user", async () => {
    const me = { sub: "user", email: "u@b.example", name: "Ada" };
    const answers = {
      "/token": () => tokenAnswer({ nonce: nonces.last, email_verified: true }),
      "/me": () => Response.json(me),
    };
    const { auth, signedIn } = handlersOf({}, answers);
    await new Jar().signIn(auth);
    expect(signedIn[0]?.profile).toMatchObject({
      email: "u@b.example",
      emailVerified: false,
      name: "Ada",
    });
    const other = { ...answers, "/me": () => Response.json({ ...me, sub: "other" }) };
    expect((await new Jar().signIn(handlersOf({}, other).auth)).status).toBe(400);
  });

  it("takes a form_post with a cookie for other sites, on https only", async () => {
    const { auth } = handlersOf({ params: { response_mode: "form_post" } });
    const jar = new Jar();
    const response = await jar.send(auth.login, "https://app.example/login");
    expect(response.headers.getSetCookie()[0]).toContain("SameSite=None; Secure");
    const sent = new URL(response.headers.get("location") ?? "").searchParams;
    nonces.last = sent.get("nonce") ?? "";
    const body = new URLSearchParams({ code: "c", state: sent.get("state") ?? "" });
    const url = "https://app.example/cb";
    expect((await jar.send(auth.callback, url)).status).toBe(405);
    expect((await jar.send(auth.callback, url, { method: "POST", body })).status).toBe(303);
    const huge = await jar.send(auth.callback, url, {
      method: "POST",
      body: new URLSearchParams({ state: "x".repeat(70_000) }),
    });
    expect(huge.status).toBe(400);
    const plain = { redirectUri: "http://localhost/cb" };
    expect(() => handlersOf({ params: { response_mode: "form_post" } }, {}, plain)).toThrow(
      "https",
    );
  });
});

describe("a provider", () => {
  it("that refuses is a page with the reason, escaped", async () => {
    const { auth } = handlersOf();
    const jar = new Jar();
    const state = (await jar.login(auth)).get("state") ?? "";
    const error_description = "<script>alert(1)</script>\u202e\r\nx";
    const response = await jar.callback(auth, { error: "access_denied", error_description, state });
    expect(response.status).toBe(400);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    expect(page).toContain("access_denied: &#60;script&#62;");
    expect(page).not.toContain("<script");
    expect(jar.cookies.size).toBe(0);
  });

  it.each([
    ["responds with 500", () => new Response("x", { status: 500 }), 502],
    ["responds with HTML", html, 502],
    ["is busy", () => new Response("", { status: 503 }), 503],
    ["cannot be reached", () => Promise.reject(new TypeError("fetch failed")), 503],
    ["refuses the code", () => Response.json({ error: "invalid_grant" }, { status: 400 }), 400],
    ["refuses the code as GitHub", () => Response.json({ error: "bad_verification_code" }), 400],
    ["refuses the client", () => Response.json({ error: "invalid_client" }, { status: 401 }), 502],
  ])("that %s is a page", async (_name, answer, status) => {
    const { auth, signedIn } = handlersOf({}, { "/token": answer });
    const response = await new Jar().signIn(auth);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(signedIn).toEqual([]);
  });

  it("that reports another error by the browser is not a fault of the user", async () => {
    const { auth } = handlersOf();
    const jar = new Jar();
    for (const [error, status] of [
      ["server_error", 502],
      ["temporarily_unavailable", 503],
    ] as const) {
      const state = (await jar.login(auth)).get("state") ?? "";
      expect((await jar.callback(auth, { error, state })).status).toBe(status);
    }
  });

  it("failure is reported to the application, which may respond itself", async () => {
    const failures: unknown[] = [];
    const { auth } = handlersOf({
      onError: ({ error, status, returnTo }) => {
        failures.push([error.code, status, returnTo]);
        return Response.json({}, { status: 418 });
      },
    });
    const jar = new Jar();
    const state = (await jar.login(auth, "?returnTo=/a")).get("state") ?? "";
    expect((await jar.callback(auth, { error: "access_denied", state })).status).toBe(418);
    expect(failures).toEqual([["access_denied", 400, "https://app.example/a"]]);
    expect(jar.cookies.size).toBe(0);
  });

  it("failure is problem details for a client that asks for no page", async () => {
    const { auth } = handlersOf();
    const response = await auth.callback(new Request("https://app.example/cb?state=a"));
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 400, code: "ERR_OAUTH_CALLBACK" });
  });
});

describe("errors of the application", () => {
  it("are thrown by the handler", async () => {
    const { auth } = handlersOf({ onSignedIn: () => Promise.reject(new Error("no database")) });
    await expect(new Jar().signIn(auth)).rejects.toThrow("no database");
  });

  it.each([
    [{ secret: "short" }, "secret"],
    [{ secret: undefined as unknown as string }, "secret"],
    [{ origins: ["https://app.example/"] }, "origins"],
    [{ origins: ["*"] }, "origins"],
    [{ onSignedIn: undefined as unknown as () => undefined }, "onSignedIn"],
    [{ secret, onSignedin: () => undefined }, 'did you mean "onSignedIn"'],
  ])("in the options %j are refused at once, without the secret", (options, message) => {
    expect(() => handlersOf(options)).toThrow(message);
    expect(() => handlersOf(options)).not.toThrow("short,");
  });

  it("are a client without redirect URI, and data that fits in no cookie", async () => {
    const { client } = connect({}, { redirectUri: undefined });
    expect(() => signIn(client, { secret, onSignedIn: () => undefined })).toThrow("redirectUri");
    const login = handlersOf().auth.start(new Request("https://app.example/login"), {
      data: "x".repeat(4000),
    });
    await expect(login).rejects.toThrow("too large for a cookie");
  });
});
