import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Handler } from "@fetchwork/http";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { AccountRoute } from "../../src/accounts/account-route.ts";
import { totpCode, totpStep } from "../../src/accounts/second-factor/totp.ts";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import {
  type AuthOptions,
  type AuthTokens,
  createClient,
  ProblemError,
  type AuthTokenStore,
} from "../../src/client/index.ts";
import { codeBlocks } from "../../../../scripts/markdown.ts";
import { openAccounts, password, type TestAccounts, type TestOptions } from "./open-accounts.ts";

const email = "ada@example.com";
const credentials = { email, password };

/** Keeps tokens where a test sees them. */
function sharedStore(): AuthTokenStore & { tokens: AuthTokens | undefined } {
  return {
    tokens: undefined,
    get() {
      return this.tokens;
    },
    set(tokens) {
      this.tokens = tokens;
    },
  };
}

type Intercept = (request: Request) => Promise<Response | void> | Response | void;

/** Serves accounts with the user Ada; `intercept` may respond in their place. */
async function open(options: TestOptions = {}) {
  const accounts = await openAccounts({ signIn: "public", signUp: "public", ...options });
  await accounts.create(email);
  const requests: string[] = [];
  const state: { intercept: Intercept } = { intercept: () => undefined };
  const url = await listen(async (request, context) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return (await state.intercept(request)) ?? accounts.handler(request, context);
  });
  const connect = (auth: true | AuthOptions = true) => connectTo(url, accounts, auth);
  const count = (line: string) => requests.filter((one) => one === line).length;
  return { ...accounts, connect, count, requests, state, url };
}

async function listen(handler: Handler): Promise<string> {
  const server = await serve(handler, { port: 0, hostname: "127.0.0.1" });
  onTestFinished(() => server.close({ gracePeriod: 0 }));
  return server.url;
}

function connectTo(baseUrl: string, { openApi }: TestAccounts, auth: true | AuthOptions) {
  const client = createClient<readonly AccountRoute[]>({ baseUrl, openApi, auth });
  onTestFinished(() => client[Symbol.asyncDispose]());
  return client;
}

function isRefresh(request: Request): boolean {
  return request.url.endsWith("/auth/refresh");
}

/** Makes the tokens of a store expire: for the client that looks at the time, and for the API. */
function expire(store: { tokens: AuthTokens | undefined }, how: "known" | "refused"): void {
  if (store.tokens === undefined) throw new Error("nobody is signed in");
  const { refreshToken, expiresAt, token } = store.tokens;
  store.tokens =
    how === "known"
      ? { token, refreshToken, expiresAt: Date.now() - 1 }
      : { token: "expired", refreshToken, expiresAt };
}

async function refusal(call: Promise<unknown>): Promise<Error> {
  const error: unknown = await call.then(
    () => expect.fail("was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) return expect.fail("no error");
  return error;
}

describe("signing in", () => {
  it("is refused with a wrong password, and no tokens are kept", async () => {
    const store = sharedStore();
    const { connect, requests } = await open();
    const client = connect({ tokens: store });
    const wrong = client.auth.signIn({ email, password: "another" });
    expect(await refusal(wrong)).toMatchObject({ status: 401, param: undefined });
    expect(store.tokens).toBeUndefined();
    expect(requests).toEqual(["POST /auth"]);
  });

  it("asks for the code of a second factor by its name, and takes a recovery code", async () => {
    const { connect } = await open();
    const client = connect();
    await client.auth.signIn(credentials);
    const { data: begun } = await client.auth.enableSecondFactor({ credentials });
    const totp = codeOf(begun.secret ?? "");
    const { data } = await client.auth.enableSecondFactor({ credentials, totp });
    expect(await refusal(client.auth.signIn(credentials))).toMatchObject({
      status: 401,
      param: "totp",
    });
    const [recovery, other] = data.recoveryCodes ?? [];
    expect((await client.auth.signIn({ ...credentials, totp: recovery })).status).toBe(201);
    expect(await refusal(client.auth.disableSecondFactor())).toMatchObject({ param: "totp" });
    expect((await client.auth.disableSecondFactor({ totp: other })).status).toBe(204);
    expect((await client.auth.signIn(credentials)).status).toBe(201);
  });

  it("sends the token with each call that follows, until the user signs out", async () => {
    const { connect, count, store } = await open();
    const client = connect();
    expect(await refusal(client.auth.me())).toMatchObject({ status: 401 });
    const { data } = await client.auth.signIn(credentials);
    expect((await client.auth.me()).data.email satisfies string).toBe(email);
    expect((await client.users.show(data.user.id)).data.email).toBe(email);
    await client.auth.signOut();
    expect(await store.collection(sessionCollection).count()).toBe(0);
    expect(await refusal(client.auth.me())).toMatchObject({ status: 401 });
    await client.auth.signOut();
    expect(count("DELETE /auth/cookie")).toBe(1);
    expect(await client.auth.refresh()).toBe(false);
    expect(count("POST /auth/refresh")).toBe(0);
  });

  it("follows a sign-up, whose mail has the token that confirms the address", async () => {
    const { connect, nextMail } = await open();
    const client = connect();
    const bob = { email: "bob@example.com", password: "correct horse" };
    const signedUp = await client.auth.signUp({ ...bob, link: "http://localhost/confirm" });
    expect(signedUp).toMatchObject({ status: 202, data: undefined });
    const { token } = await nextMail();
    const confirmed = await client.auth.confirmEmail({ token, password: bob.password });
    expect(confirmed.data.email satisfies string).toBe(bob.email);
    expect((await client.auth.signIn(bob)).data.user.email).toBe(bob.email);
    await client.auth.changeEmail({
      credentials: bob,
      email: "rob@example.com",
      link: "http://localhost/confirm",
    });
    const mail = await nextMail();
    await client.auth.confirmEmail({ token: mail.token });
    expect((await client.auth.me()).data.email).toBe("rob@example.com");
  });

  it("works with another password, and with one that a mailed link sets", async () => {
    const { connect, nextMail } = await open();
    const client = connect();
    await client.auth.signIn(credentials);
    await client.auth.updatePassword({ credentials, password: "another one" });
    expect(await refusal(client.auth.signIn(credentials))).toMatchObject({ status: 401 });
    await client.auth.createPasswordReset({ email, link: "http://localhost/reset" });
    const { token } = await nextMail();
    expect((await client.auth.showPasswordReset({ token })).data.user.email).toBe(email);
    await client.auth.usePasswordReset({ token, password: "the third" });
    expect((await client.auth.signIn({ email, password: "the third" })).status).toBe(201);
  });

  it("comes before sessions, keys and passkeys of the user", async () => {
    const { connect } = await open();
    const [client, other] = [connect(), connect()];
    await client.auth.signIn(credentials);
    await other.auth.signIn(credentials);
    const { data: sessions } = await client.auth.listSessions();
    expect(new Set(sessions.map(({ isCurrent }) => isCurrent)).size).toBe(2);
    const { id: session = "" } = sessions.find(({ isCurrent }) => !isCurrent) ?? {};
    await client.auth.endSession({ session });
    expect(await refusal(other.auth.me())).toMatchObject({ status: 401 });
    const { data: made } = await client.auth.createKey({ name: "CI", scopes: ["users:read"] });
    expect(made.key satisfies string).toMatch(/\S{20}/);
    await client.auth.removeKey({ key: made.id });
    expect((await client.auth.listKeys()).data).toEqual([]);
    expect((await client.auth.beginPasskey()).data).toHaveProperty("challenge");
    const response = {};
    expect(await refusal(client.auth.registerPasskey({ name: "a", response }))).toMatchObject({
      status: 400,
    });
    expect((await client.auth.listPasskeys({ id: "me" })).data).toEqual([]);
    expect((await client.auth.beginPasskeySignIn()).data).toHaveProperty("challenge");
    expect(await refusal(client.auth.signInWithPasskey({ response }))).toMatchObject({
      status: 400,
    });
    await client.auth.signOutEverywhere();
    expect(await refusal(client.auth.listKeys())).toMatchObject({ status: 401 });
  });
});

describe("an expired token", () => {
  it.each(["known", "refused"] as const)(
    "(%s) is refreshed once for 20 calls that wait, and each is answered",
    async (how) => {
      const store = sharedStore();
      const { connect, count } = await open();
      const client = connect({ tokens: store });
      await client.auth.signIn(credentials);
      expire(store, how);
      const calls = Array.from({ length: 20 }, () => client.auth.me());
      const found = await Promise.all(calls);
      expect(new Set(found.map(({ data }) => data.email))).toEqual(new Set([email]));
      expect(count("POST /auth/refresh")).toBe(1);
      expect(count("GET /users/me")).toBe(how === "known" ? 20 : 40);
    },
  );

  it("that stays refused after its refresh fails the call, which is sent twice", async () => {
    const store = sharedStore();
    const { connect, count, state } = await open();
    const client = connect({ tokens: store });
    await client.auth.signIn(credentials);
    state.intercept = (request) => (isRefresh(request) ? undefined : problem(401));
    expect(await refusal(client.auth.me())).toMatchObject({ status: 401 });
    expect(count("GET /users/me")).toBe(2);
    expect(store.tokens).toBeDefined();
  });

  it.each(["known", "refused"] as const)(
    "(%s) whose refresh is refused signs out once, and all calls fail with 401",
    async (how) => {
      const store = sharedStore();
      const onSignOut = vi.fn();
      const { connect, count, store: documents } = await open();
      const client = connect({ tokens: store, onSignOut });
      await client.auth.signIn(credentials);
      expire(store, how);
      await documents.collection(sessionCollection).removeMany({ where: {} });
      const calls = Array.from({ length: 20 }, () => client.auth.me());
      const settled = await Promise.allSettled(calls);
      const errors = settled.map((one) => (one.status === "rejected" ? one.reason : undefined));
      expect(errors.every((error) => error instanceof ProblemError && error.status === 401)).toBe(
        true,
      );
      expect([store.tokens, count("POST /auth/refresh")]).toEqual([undefined, 1]);
      expect(onSignOut).toHaveBeenCalledTimes(1);
      expect(await refusal(client.auth.me())).toMatchObject({ status: 401 });
      expect(onSignOut).toHaveBeenCalledTimes(1);
    },
  );

  it("keeps the tokens when the refresh fails by a 5xx, and the next call refreshes", async () => {
    const store = sharedStore();
    const onSignOut = vi.fn();
    const { connect, state } = await open();
    const client = connect({ tokens: store, onSignOut });
    await client.auth.signIn(credentials);
    expire(store, "known");
    const before = store.tokens;
    state.intercept = (request) => (isRefresh(request) ? problem(503) : undefined);
    expect(await refusal(client.auth.me())).toMatchObject({ status: 503 });
    expect(store.tokens).toBe(before);
    state.intercept = () => undefined;
    expect((await client.auth.me()).data.email).toBe(email);
    expect(onSignOut).not.toHaveBeenCalled();
  });

  it("keeps the tokens when the API is not reached", async () => {
    const store = sharedStore();
    const accounts = await openAccounts();
    const server = await serve(accounts.handler, { port: 0, hostname: "127.0.0.1" });
    await server.close({ gracePeriod: 0 });
    const tokens = { token: "s3cret", refreshToken: "s3cret-too", expiresAt: 0 };
    store.tokens = tokens;
    const client = connectTo(server.url, accounts, { tokens: store });
    expect(await refusal(client.auth.me())).toMatchObject({ name: "ConnectionError" });
    expect(store.tokens).toBe(tokens);
    // What asks to sign out does so, even offline.
    expect(await refusal(client.auth.signOut())).toMatchObject({ name: "ConnectionError" });
    expect(store.tokens).toBeUndefined();
  });

  it("is replaced by newer tokens of another tab, without a refresh", async () => {
    const store = sharedStore();
    const { connect, count } = await open();
    const [one, other] = [connect({ tokens: store }), connect({ tokens: store })];
    await one.auth.signIn(credentials);
    const { tokens: newer } = store;
    store.tokens = { token: "old", refreshToken: "fwr_old", expiresAt: Date.now() + 60_000 };
    const call = other.auth.me();
    store.tokens = newer;
    expect((await call).data.email).toBe(email);
    expect(count("POST /auth/refresh")).toBe(0);
    expire(store, "refused");
    await one.auth.me();
    expect((await other.auth.me()).data.email).toBe(email);
    expect(count("POST /auth/refresh")).toBe(1);
  });

  it("may be refreshed by two tabs at once, and both go on with the same tokens", async () => {
    const store = sharedStore();
    const { connect } = await open();
    const clients = [connect({ tokens: store }), connect({ tokens: store })];
    await clients[0]?.auth.signIn(credentials);
    expire(store, "known");
    await Promise.all(clients.map((client) => client.auth.me()));
    await Promise.all(clients.map((client) => client.auth.refresh()));
    const found = await Promise.all(clients.map((client) => client.auth.me()));
    expect(found.map(({ data }) => data.email)).toEqual([email, email]);
  });
});

describe("signing out", () => {
  it("during a refresh leaves no tokens, and calls onSignOut of nobody", async () => {
    const store = sharedStore();
    const onSignOut = vi.fn();
    const { connect, state, store: documents } = await open();
    const client = connect({ tokens: store, onSignOut });
    await client.auth.signIn(credentials);
    expire(store, "refused");
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    state.intercept = async (request) => {
      if (!isRefresh(request)) return;
      arrived.resolve();
      await released.promise;
    };
    const call = client.auth.me();
    await arrived.promise;
    const leaving = client.auth.signOut();
    released.resolve();
    await Promise.allSettled([call]);
    await leaving;
    expect(store.tokens).toBeUndefined();
    expect(await documents.collection(sessionCollection).count()).toBe(0);
    expect(onSignOut).not.toHaveBeenCalled();
  });

  it("in another tab during a refresh does not bring the tokens back", async () => {
    const store = sharedStore();
    const { connect, state } = await open();
    const client = connect({ tokens: store });
    await client.auth.signIn(credentials);
    expire(store, "known");
    state.intercept = (request) => {
      if (isRefresh(request)) store.tokens = undefined;
    };
    await client.auth.refresh();
    expect(store.tokens).toBeUndefined();
  });

  it("of a session that has ended is done, and calls onSignOut of nobody", async () => {
    const store = sharedStore();
    const onSignOut = vi.fn();
    const { connect, store: documents } = await open();
    const client = connect({ tokens: store, onSignOut });
    await client.auth.signIn(credentials);
    await documents.collection(sessionCollection).removeMany({ where: {} });
    await client.auth.signOut();
    expect([store.tokens, onSignOut.mock.calls]).toEqual([undefined, []]);
  });

  it("while calls run ends with 401s, and no refresh calls onSignOut", async () => {
    const store = sharedStore();
    const onSignOut = vi.fn();
    const { connect } = await open();
    const client = connect({ tokens: store, onSignOut });
    await client.auth.signIn(credentials);
    const calls = Array.from({ length: 5 }, () => client.auth.me());
    await Promise.all([client.auth.signOut(), Promise.allSettled(calls)]);
    expect([store.tokens, onSignOut.mock.calls]).toEqual([undefined, []]);
  });
});

describe("tokens and passwords", () => {
  it.each([302, 307, 308])("follow no redirect (%d) to another origin", async (status) => {
    const received: string[] = [];
    const other = await listen(async (request) => {
      received.push(JSON.stringify([...request.headers, request.url, await request.text()]));
      return Response.json({});
    });
    const store = sharedStore();
    const { connect, state } = await open();
    const client = connect({ tokens: store });
    await client.auth.signIn(credentials);
    const { token = "", refreshToken = "" } = store.tokens ?? {};
    state.intercept = (request) => {
      const location = new URL(new URL(request.url).pathname, other).href;
      return new Response(null, { status, headers: { location } });
    };
    await client.users.show("me");
    expect(received).toHaveLength(1);
    const mailed = "m".repeat(43);
    const calls = [
      client.auth.signIn(credentials),
      client.auth.signUp(credentials),
      client.auth.refresh(),
      client.auth.disableSecondFactor({ totp: "123456" }),
      client.auth.updatePassword({ credentials, password: "another one" }),
      client.auth.usePasswordReset({ token: mailed, password: "another one" }),
    ];
    for (const error of await Promise.all(calls.map((call) => refusal(call)))) {
      expect(error).toMatchObject({ code: "ERR_REST_RESPONSE" });
    }
    expect(received).toHaveLength(1);
    for (const secret of [token, refreshToken, password]) expect(received[0]).not.toContain(secret);
    expect(store.tokens).toMatchObject({ token });
  });

  it("are in no error", async () => {
    const store = sharedStore();
    const { connect, state } = await open();
    const client = connect({ tokens: store });
    const mailed = "m".repeat(43);
    const texts: string[] = [];
    const note = async (call: Promise<unknown>) => {
      const error = await refusal(call);
      texts.push(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`);
    };
    await client.auth.signIn(credentials);
    const { token = "", refreshToken = "" } = store.tokens ?? {};
    state.intercept = () => new Response(refreshToken.slice(0, 30));
    await note(client.auth.me());
    await note(client.auth.refresh());
    await note(client.auth.signIn(credentials));
    state.intercept = () => problem(500);
    await note(client.auth.refresh());
    const signal = AbortSignal.abort();
    await note(client.auth.confirmEmail({ token: mailed }, { signal }));
    await note(client.auth.usePasswordReset({ token: mailed, password }, { signal }));
    const fragments = [mailed, token, refreshToken.slice(0, 8), password];
    for (const text of texts) {
      for (const secret of fragments) expect(text).not.toContain(secret);
    }
    expect(texts).toHaveLength(6);
  });

  it("of a store that keeps something else are none", async () => {
    const { connect, requests } = await open();
    for (const kept of [null, 7, "x", {}, { token: "a\nb", refreshToken: "c", expiresAt: 1 }]) {
      const client = connect({ tokens: { get: async () => kept, set: () => undefined } });
      expect(await client.auth.refresh()).toBe(false);
      expect(await refusal(client.auth.me())).toMatchObject({ status: 401 });
    }
    expect(requests).not.toContain("POST /auth/refresh");
  });

  it("are kept by auth or given as token, not both", () => {
    const baseUrl = "https://api.example";
    expect(() => createClient({ baseUrl, auth: true, token: "a" })).toThrow("either auth or token");
    const auth = { token: sharedStore() } as AuthOptions;
    expect(() => createClient({ baseUrl, auth })).toThrow("token");
  });
});

it("the example of the guide signs in and out", async () => {
  const { url } = await open();
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/rest/client.md"), "utf8");
  const example = codeBlocks(guide, "ts").find((block) => block.includes("onSignOut"));
  const folder = join(import.meta.dirname, "../../dist/readme-example");
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "example.ts"), example ?? "");
  const kept = new Map<string, string>();
  const getItem = (key: string) => kept.get(key) ?? null;
  const setItem = (key: string, value: string) => kept.set(key, value);
  vi.stubGlobal("localStorage", { getItem, setItem });
  vi.stubEnv("API_URL", url);
  onTestFinished(() => void vi.unstubAllGlobals().unstubAllEnvs());
  const { start } = (await import(join(folder, "example.ts"))) as {
    start(...given: readonly string[]): Promise<string>;
  };
  expect(await start(email, password)).toBe("ada, sessions: 1");
  expect(kept.get("tokens")).toBe("null");
});

it("the types of auth name what each call needs", () => {
  const wrong = (client: ReturnType<typeof connectTo>): unknown[] => [
    // @ts-expect-error -- the password is missing
    client.auth.signIn({ email }),
    // @ts-expect-error -- the credentials are missing
    client.auth.updatePassword({ password }),
    // @ts-expect-error -- the session is missing
    client.auth.endSession(),
    // @ts-expect-error -- no such field
    client.auth.createKey({ name: "a", scopes: [], until: "" }),
    // @ts-expect-error -- no such call
    client.auth.updateRole({ role: "admin" }),
    // @ts-expect-error -- a client without the option has no such member
    createClient<readonly AccountRoute[]>({ baseUrl: "https://api.example" }).auth,
  ];
  expect(wrong).toBeTypeOf("function");
});

/** The code that an authenticator shows now for a secret in base32 (RFC 4648). */
function codeOf(base32: string): string {
  const bits = Array.from(base32, (letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter))
    .map((value) => value.toString(2).padStart(5, "0"))
    .join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Uint8Array.from(bytes), totpStep(Date.now()));
}

function problem(status: number): Response {
  const headers = { "content-type": "application/problem+json" };
  return new Response(JSON.stringify({ status, detail: "no" }), { status, headers });
}
