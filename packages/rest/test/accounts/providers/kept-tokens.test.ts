import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openStore, type Store } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from "vitest";
import {
  browse,
  startProvider,
  type ProviderServer,
} from "../../../../oauth2/test/provider-server.ts";
import type { ShownLink } from "../../../src/accounts/account-operations.ts";
import {
  identityCollection,
  keptTokenCollection,
} from "../../../src/accounts/providers/identity.ts";
import { masterKey } from "../../api-client.ts";
import { account, apiOf, jwtSecret, user } from "./provider-api.ts";

const clientSecret = "a secret of the api, thirty-two bytes";
/** Lifetime of the provider's access tokens, in seconds. */
const lifetime = 60;

let provider: ProviderServer;
let port: number;
/** Whom the provider knows. */
let claims: Record<string, unknown>;
/** Every token that the provider gave. */
let given: string[];
/** Grant types of the token requests that the provider has answered. */
let grants: string[];

beforeAll(async () => {
  const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 } as const;
  const probe = await serve(() => new Response(), options);
  port = probe.port;
  await probe.close();
  provider = await startProvider(() => ({
    pkce: { required: () => true },
    clients: ["blog", "modest"].map((client_id) => ({
      client_id,
      client_secret: clientSecret,
      redirect_uris: [`http://127.0.0.1:${port}/auth/home/callback`],
      grant_types: ["authorization_code", "refresh_token"],
    })),
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...claims, sub }) }),
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    scopes: ["openid", "email", "profile", "offline_access"],
    ttl: { AccessToken: lifetime },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: true },
      revocation: { enabled: true },
    },
  }));
  provider.provider.on("grant.success", (ctx) => {
    const { access_token, refresh_token, id_token } = ctx.body as Record<string, string>;
    for (const token of [access_token, refresh_token, id_token]) if (token) given.push(token);
    grants.push(String(ctx.oidc.params?.["grant_type"]));
  });
});
afterAll(async () => provider.close());
afterEach(() => {
  vi.useRealTimers();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true });
  claims = { email: "ada@example.com", email_verified: true, name: "Ada" };
  given = [];
  grants = [];
});

interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: any; // oxlint-disable-line typescript/no-explicit-any -- tests look into it as it comes
}

interface TestApi {
  readonly store: Store;
  /** Signs in with the provider; returns the session. */
  signIn(): Promise<{ readonly id: string; readonly token: string }>;
  send(method: string, target: string, token?: string): Promise<Outcome>;
}

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "fetchwork-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function openTestApi(
  changed: {
    readonly keepsTokens?: boolean;
    readonly folder?: string;
    readonly store?: Store;
  } = {},
): Promise<TestApi> {
  const { keepsTokens = true, folder = newFolder() } = changed;
  const url = `sqlite:${path.join(folder, "api.db")}`;
  const store = changed.store ?? (await openStore(url, { collections: account.collections }));
  const publicUrl = `http://127.0.0.1:${port}`;
  const { issuer } = provider;
  const home = { name: "home", issuer, clientId: "blog", clientSecret, audience: "a", keepsTokens };
  const { handler } = apiOf(
    store,
    { origin: publicUrl, providers: [home] },
    { tokenLifetime: 86_400 },
  );
  const own = changed.store === undefined ? port : 0;
  const server = await serve(handler, {
    port: own,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  const origin = `http://127.0.0.1:${server.port}`;
  onTestFinished(async () => {
    await server.close({ gracePeriod: 0 });
    if (changed.store === undefined) await store.close();
  });
  async function send(method: string, target: string, token?: string): Promise<Outcome> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(new URL(target, origin), { method, headers });
    const text = await response.text();
    const json: unknown = text === "" ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, json };
  }
  return {
    store,
    send,
    async signIn() {
      const started = await fetch(`${origin}/auth/home`, { redirect: "manual" });
      const cookie = started.headers.getSetCookie()[0]?.split(";")[0] ?? "";
      const callback = await browse(started.headers.get("location") ?? "", `${origin}/auth/home/`);
      const response = await fetch(callback, { headers: { cookie } });
      const body = (await response.json()) as { token: string; user: { id: string } };
      expect(response.status).toBe(201);
      return { id: body.user.id, token: body.token };
    },
  };
}

/** Lets time pass, for the blog and the provider. */
function pass(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1000);
}

/** Makes another user, and signs it in. */
async function joinAs(api: TestApi, role: "admin" | "user"): Promise<string> {
  const origin = `http://127.0.0.1:${port}`;
  const email = `${role}@example.com`;
  const form = { email, password: "123456", role, access_token: masterKey };
  await fetch(`${origin}/users`, { method: "POST", body: new URLSearchParams(form) });
  const session = await fetch(`${origin}/auth`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${email}:123456`)}` },
    body: new URLSearchParams({ access_token: masterKey }),
  });
  expect(await api.store.collection(keptTokenCollection).count()).toBeGreaterThan(0);
  return ((await session.json()) as { token: string }).token;
}

async function linksOf(api: TestApi, token: string): Promise<readonly ShownLink[]> {
  return (await api.send("GET", "/users/me/links", token)).json;
}

/** Ends the link of a user. */
async function unlink(api: TestApi, token: string): Promise<Outcome> {
  const [link] = await linksOf(api, token);
  return api.send("DELETE", `/users/me/links/${link?.id}`, token);
}

describe("the tokens of a provider", () => {
  it("are neither asked for nor kept without the setting", async () => {
    const api = await openTestApi({ keepsTokens: false });
    const started = await fetch(`http://127.0.0.1:${port}/auth/home`, { redirect: "manual" });
    const url = new URL(started.headers.get("location") ?? "");
    expect(url.searchParams.get("scope")).toBe("openid email profile");
    expect(url.searchParams.has("prompt")).toBe(false);
    const { token } = await api.signIn();
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
    const { status, json } = await api.send("GET", "/auth/home/userinfo", token);
    expect([status, json.detail]).toEqual([404, "no token of home is kept; sign in with it again"]);
  });

  it("are for nobody else", async () => {
    const api = await openTestApi();
    const { id, token } = await api.signIn();
    const { id: link } = (await linksOf(api, token))[0] ?? { id: "" };
    const admin = await joinAs(api, "admin");
    const other = await joinAs(api, "user");
    expect((await api.send("GET", "/auth/home/userinfo")).status).toBe(401);
    const { status, json } = await api.send("GET", "/auth/home/userinfo", admin);
    expect([status, json.detail]).toEqual([404, "there is no link to home"]);
    expect((await api.send("GET", "/auth/other/userinfo", admin)).status).toBe(404);
    for (const [method, target] of [
      ["GET", `/users/${id}/links`],
      ["DELETE", `/users/${id}/links/${link}`],
    ] as const) {
      expect((await api.send(method, target)).status).toBe(401);
      expect((await api.send(method, target, other)).status).toBe(403);
    }
    expect((await api.send("DELETE", `/users/me/links/${link}`, other)).status).toBe(404);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(1);
  });

  it("are refused when they were moved to another user in the database", async () => {
    const api = await openTestApi();
    const { id, token } = await api.signIn();
    const tokens = api.store.collection(keptTokenCollection);
    const [kept] = await tokens.find();
    await api.store.collection(identityCollection).removeMany({ where: {} });
    const moved = { issuer: provider.issuer, sub: "user-1", userId: id };
    await api.store.collection(identityCollection).insert(moved, { id: "elsewhere" });
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("elsewhere"));
    const document = { token: kept?.token ?? "" };
    await tokens.insert(document, { id: Buffer.from(digest).toString("hex") });
    expect((await api.send("GET", "/auth/home/userinfo", token)).status).toBe(404);
  });

  it("show what the provider says of the user now", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    claims = { ...claims, name: "Countess" };
    const { status, headers, json } = await api.send("GET", "/auth/home/userinfo", token);
    const said = { sub: "user-1", name: "Countess", email: "ada@example.com" };
    expect([status, json]).toMatchObject([200, said]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(grants).toEqual(["authorization_code"]);
  });

  it("are renewed once when they have expired, for all requests of two servers on one store", async () => {
    const api = await openTestApi();
    const other = await openTestApi({ store: api.store });
    const { token } = await api.signIn();
    pass(lifetime + 1);
    const asked = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? api : other).send("GET", "/auth/home/userinfo", token),
      ),
    );
    expect(asked.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
    pass(lifetime + 1);
    expect((await other.send("GET", "/auth/home/userinfo", token)).status).toBe(200);
    expect(grants).toHaveLength(3);
  });

  it("are renewed when the provider has withdrawn the access token before its time", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    const access = await provider.provider.AccessToken.find(given[0] ?? "");
    await access?.destroy();
    expect((await api.send("GET", "/auth/home/userinfo", token)).status).toBe(200);
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
  });

  it("are forgotten when the provider has withdrawn all, which the answer says", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    const refresh = await provider.provider.RefreshToken.find(given[1] ?? "");
    await refresh?.destroy();
    pass(lifetime + 1);
    const { status, json } = await api.send("GET", "/auth/home/userinfo", token);
    expect([status, json.detail]).toEqual([
      409,
      "home takes the token no more; sign in with it again",
    ]);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
    expect((await api.send("GET", "/auth/home/userinfo", token)).status).toBe(404);
    const again = await api.signIn();
    expect((await api.send("GET", "/auth/home/userinfo", again.token)).status).toBe(200);
  });

  it("are kept while the provider refuses this application", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    pass(lifetime + 1);
    const client = await provider.provider.Client.find("blog");
    const secret = vi.spyOn(Object.getPrototypeOf(client), "compareClientSecret");
    secret.mockResolvedValue(false);
    const reports = vi.spyOn(console, "error").mockImplementation(() => {});
    expect((await api.send("GET", "/auth/home/userinfo", token)).status).toBe(503);
    secret.mockRestore();
    reports.mockRestore();
    expect((await api.send("GET", "/auth/home/userinfo", token)).status).toBe(200);
  });

  it("are in clear neither in the files of the database, nor in the log, nor in an answer, nor are codes", async () => {
    const written: string[] = [];
    const keep = (chunk: unknown): boolean => written.push(String(chunk)) > 0;
    const out = vi.spyOn(process.stdout, "write").mockImplementation(keep);
    const err = vi.spyOn(process.stderr, "write").mockImplementation(keep);
    const logs = (["log", "info", "warn", "error", "debug"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...words) => void written.push(words.join(" "))),
    );
    onTestFinished(() => {
      for (const spy of [out, err, ...logs]) spy.mockRestore();
    });
    const folder = newFolder();
    const api = await openTestApi({ folder });
    const { token } = await api.signIn();
    pass(lifetime + 1);
    const answers = [await api.send("GET", "/auth/home/userinfo", token)];
    answers.push(await api.send("GET", "/users/me", token));
    const files = readdirSync(folder).map((name) =>
      readFileSync(path.join(folder, name), "latin1"),
    );
    answers.push(await unlink(api, token));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(files.join("")).toContain("user-1");
    const shown = [...files, ...written, ...answers.map(({ text }) => text)].join("\n");
    // Access, refresh and ID token, of the sign-in and of the renewal.
    expect(given).toHaveLength(6);
    for (const secret of [...given, clientSecret, jwtSecret]) expect(shown).not.toContain(secret);
  });
});

describe("unlinking", () => {
  it("revokes the tokens and forgets them", async () => {
    const api = await openTestApi();
    const { id, token } = await api.signIn();
    const shown = { id: expect.any(String), provider: "home", createdAt: expect.any(String) };
    expect(await linksOf(api, token)).toEqual([shown]);
    const { status, json } = await unlink(api, token);
    expect([status, json]).toEqual([200, { revoked: true }]);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
    expect(await api.store.collection(identityCollection).count()).toBe(0);
    expect(await provider.provider.RefreshToken.find(given[1] ?? "")).toBeUndefined();
    expect((await unlink(api, token)).status).toBe(404);
    expect(await linksOf(api, token)).toEqual([]);
    expect((await api.send("GET", "/users/me", token)).json.id).toBe(id);
  });

  it("forgets them also when the provider does not serve, and says that they are not revoked", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    const client = await provider.provider.Client.find("blog");
    const secret = vi.spyOn(Object.getPrototypeOf(client), "compareClientSecret");
    secret.mockResolvedValue(false);
    onTestFinished(() => secret.mockRestore());
    const { status, json } = await unlink(api, token);
    expect([status, json]).toEqual([200, { revoked: false }]);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
  });

  it("does not bring a token back that is being renewed in the meantime", async () => {
    const api = await openTestApi();
    const { token } = await api.signIn();
    const [link] = await linksOf(api, token);
    pass(lifetime + 1);
    const asking = Array.from({ length: 4 }, () => api.send("GET", "/auth/home/userinfo", token));
    const { status } = await api.send("DELETE", `/users/me/links/${link?.id}`, token);
    const statuses = (await Promise.all(asking)).map((answer) => answer.status);
    expect(status).toBe(200);
    for (const one of statuses) expect([200, 404, 409]).toContain(one);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
  });

  it("comes with the deletion of the user", async () => {
    const api = await openTestApi();
    const { id } = await api.signIn();
    const admin = await joinAs(api, "admin");
    expect((await api.send("DELETE", `/users/${id}`, admin)).status).toBe(204);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(0);
    expect(await api.store.collection(identityCollection).count()).toBe(0);
  });

  it("comes late for a user whom a program deleted, when somebody signs in again", async () => {
    const api = await openTestApi();
    const first = await api.signIn();
    await api.store.collection(user.collection).remove(first.id);
    const second = await api.signIn();
    expect(second.id).not.toBe(first.id);
    expect(await api.store.collection(keptTokenCollection).count()).toBe(1);
    expect((await api.send("GET", "/auth/home/userinfo", second.token)).status).toBe(200);
  });
});
