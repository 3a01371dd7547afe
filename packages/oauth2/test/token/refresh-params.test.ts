import { decodeJwt } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  MemoryTokenStore,
  OAuth2Client,
  TokenManager,
  type TokenParams,
} from "../../src/index.ts";
import { OidcClient } from "../../src/oidc/index.ts";
import { browse, startProvider, type ProviderServer } from "../provider-server.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";
import { keptParams } from "../../src/token/refresh-params.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
  server.script = [json({ access_token: "A", refresh_token: "R", expires_in: 60 })];
});
afterEach(() => server[Symbol.asyncDispose]());

let now = 1_800_000_000;
const client = (): OAuth2Client =>
  new OAuth2Client("id", "secret", {
    site: server.origin,
    redirectUri: "https://app.example/callback",
    clock: () => now * 1000,
  });

/** The parameters of the last request, without those that every refresh has. */
function lastRefresh(): unknown {
  const form = new URLSearchParams(server.seen.at(-1)?.body);
  expect(form.get("grant_type")).toBe("refresh_token");
  for (const name of ["grant_type", "refresh_token"]) form.delete(name);
  return [...form].map(([name, value]) => `${name}=${value}`);
}

const resource = ["https://api.example/v1", "https://api.example/v2"];

it("keptParams() keeps a parameter that has the name of an inherited member", () => {
  expect(keptParams({ constructor: "a", audience: "b" })).toEqual({
    constructor: "a",
    audience: "b",
  });
});

describe("a token", () => {
  it("sends scope, resource and own parameters of its grant at each refresh", async () => {
    const params = { scope: ["read", "write"], resource, audience: "api", prompt: null };
    const token = await client().clientCredentials.getToken(params);
    const refreshed = await token.refresh();
    const wanted = [
      "scope=read write",
      "resource=https://api.example/v1",
      "resource=https://api.example/v2",
      "audience=api",
    ];
    expect(lastRefresh()).toEqual(wanted);
    await refreshed.refresh();
    expect(lastRefresh()).toEqual(wanted);
  });

  it("never sends a credential of its grant again", async () => {
    const grants: readonly TokenParams[] = [
      { grant_type: "password", username: "ann", password: "hunter22", otp_secret: "123456" },
      { grant_type: "authorization_code", code: "C", code_verifier: "V", redirectUri: "https://x" },
      {
        grant_type: "custom",
        assertion: "A",
        subject_token: "S",
        client_secret: "other",
        nonce: "n",
      },
      { grant_type: "custom", client_assertion: "A", client_assertion_type: "t", mfa_token: "M" },
    ];
    for (const params of grants) {
      const token = await client().getToken(params);
      expect(JSON.stringify(token.toHash())).not.toMatch(/hunter22|123456|other/);
      await token.refresh();
      expect(lastRefresh()).toEqual([]);
    }
  });

  it("keeps its parameters in a store, and shows no value with a secret name", async () => {
    const token = await client().clientCredentials.getToken({ resource, scope: "read" });
    const stored: unknown = JSON.parse(JSON.stringify(token.toHash()));
    expect(stored).toMatchObject({ refresh_params: { resource, scope: "read" } });
    expect(structuredClone(token.toHash())).toEqual(stored);
    const restored = AccessToken.fromHash(client(), Object(stored));
    await restored.refresh();
    expect(lastRefresh()).toEqual([
      "resource=https://api.example/v1",
      "resource=https://api.example/v2",
      "scope=read",
    ]);
  });

  it("takes none from a server, in no spelling, not even through a store", async () => {
    const evil = { resource: "https://evil.example" };
    server.script = [
      json({ access_token: "A", refresh_token: "R", refresh_params: evil, refreshParams: evil }),
    ];
    const snaky = await client().clientCredentials.getToken({ scope: "read" });
    const plain = await client().clientCredentials.getToken({ scope: "read", snaky: false });
    const fragment = `access_token=A&refresh_token=R&refresh_params=${JSON.stringify(evil)}`;
    for (const token of [snaky, plain, AccessToken.fromKvform(client(), fragment)]) {
      const restored = AccessToken.fromHash(client(), token.toHash());
      for (const one of [token, restored, await token.refresh()]) {
        await one.refresh();
        expect(JSON.stringify(lastRefresh())).not.toContain("evil");
      }
    }
  });

  it("does not ask for a scope that the server did not grant in full", async () => {
    const answer = { access_token: "A", refresh_token: "R" };
    server.script = [json({ ...answer, scope: "read" })];
    const token = await client().clientCredentials.getToken({ scope: "read write", resource });
    await token.refresh();
    expect(lastRefresh()).toEqual(resource.map((one) => `resource=${one}`));
    server.script = [json({ ...answer, scope: "write,read" })];
    await (await client().clientCredentials.getToken({ scope: "read write" })).refresh();
    expect(lastRefresh()).toEqual(["scope=read write"]);
  });

  it("prefers the parameters of a refresh, and keeps them with the new token", async () => {
    const token = await client().clientCredentials.getToken({
      scope: "read",
      resource: "https://a",
    });
    const other = await token.refresh({ resource: "https://b", scope: null });
    expect(lastRefresh()).toEqual(["resource=https://b"]);
    await other.refresh();
    expect(lastRefresh()).toEqual(["resource=https://b"]);
    await token.refresh();
    expect(lastRefresh()).toEqual(["scope=read", "resource=https://a"]);
  });

  it("can be given parameters, and refuses what is not an object", () => {
    const token = new AccessToken(client(), "A", { refreshParams: { resource, tenant: 5 } });
    expect(token.options.refreshParams).toEqual({ resource, tenant: "5" });
    for (const refreshParams of ["resource=x", ["x"], 5]) {
      expect(() => new AccessToken(client(), "A", Object({ refreshParams }))).toThrow(
        expect.objectContaining({ code: "ERR_OAUTH_OPTION" }),
      );
    }
  });
});

describe("a sign-in", () => {
  it("sends resource, scope and own parameters of the code's exchange at each refresh", async () => {
    const { authCode } = client();
    const { url, transaction } = await authCode.start({
      scope: ["read", "write"],
      resource,
      prompt: "consent",
    });
    expect(new URL(url).searchParams.getAll("scope")).toEqual(["read write"]);
    const kept: unknown = JSON.parse(JSON.stringify(transaction));
    const callback = `https://app.example/callback?code=C&state=${transaction.state}`;
    const token = await authCode.callback(callback, Object(kept), { audience: "api" });
    const exchange = new URLSearchParams(server.seen.at(-1)?.body);
    expect(exchange.getAll("resource")).toEqual(resource);
    expect(exchange.has("scope")).toBe(false);
    await token.refresh();
    expect(lastRefresh()).toEqual([
      "scope=read write",
      ...resource.map((one) => `resource=${one}`),
      "audience=api",
    ]);
  });
});

describe("TokenManager", () => {
  it("sends those of the token, also those of a token that it got by its grant", async () => {
    const oauth = client();
    const store = new MemoryTokenStore();
    const grant = (): Promise<AccessToken> => oauth.clientCredentials.getToken({ resource });
    await new TokenManager(oauth, { store, grant }).getToken();
    now += 60;
    await new TokenManager(client(), { store }).getToken();
    expect(lastRefresh()).toEqual(resource.map((one) => `resource=${one}`));
  });
});

describe("a list of scopes", () => {
  it("is one parameter, joined by spaces, in every request", async () => {
    const scope = ["openid", "email"];
    const oauth = client();
    const refreshable = AccessToken.fromHash(oauth, { access_token: "A", refresh_token: "R" });
    const headers = { "content-type": "application/json" };
    await oauth.clientCredentials.getToken({ scope });
    await oauth.getToken({ grant_type: "custom", scope });
    await oauth.password.getToken("ann", "hunter22", { scope });
    await oauth.authCode.getToken("C", { scope });
    await refreshable.refresh({ scope });
    const forms = server.seen.map(({ body }) => new URLSearchParams(body).getAll("scope"));
    expect(forms).toEqual(forms.map(() => ["openid email"]));
    await oauth.clientCredentials.getToken({ scope, headers });
    expect(JSON.parse(server.seen.at(-1)?.body ?? "")).toMatchObject({ scope: "openid email" });
    await oauth.clientCredentials.getToken({ scope: [] });
    expect(server.seen.at(-1)?.body).not.toContain("scope");
    for (const url of [
      oauth.authCode.authorizeUrl({ scope }),
      oauth.implicit.authorizeUrl({ scope }),
    ]) {
      expect(new URL(url).searchParams.getAll("scope")).toEqual(["openid email"]);
    }
  });

  it("repeats the parameter in requests to a resource, where a list is a list", async () => {
    await client().request("get", "/r", { params: { scope: ["a", "b"] } });
    expect(server.seen.at(-1)?.target).toBe("/r?scope=a&scope=b");
  });

  it("is joined by an OidcClient: device flow, token exchange, sign-in, pushed requests", async () => {
    const at = (name: string): string => `${server.origin}/${name}`;
    const metadata = {
      issuer: server.origin,
      authorization_endpoint: at("authorize"),
      token_endpoint: at("token"),
      device_authorization_endpoint: at("device"),
      pushed_authorization_request_endpoint: at("par"),
    };
    const oidc = new OidcClient(metadata, "id", "secret", {
      defaultScope: ["read", "write"],
      clock: () => now * 1000,
    });
    const scope = ["read", "write"];
    const all = {
      access_token: "A",
      refresh_token: "R",
      issued_token_type: "t",
      request_uri: "urn:x",
      device_code: "D",
      user_code: "U",
      verification_uri: "https://x",
      expires_in: 60,
    };
    server.script = [json(all)];
    await oidc.tokenExchange.getToken({ subjectToken: "S", scope });
    await oidc.pushAuthorization({ scope });
    const started = await oidc.device.start({ scope, resource });
    expect(server.seen.map(({ body }) => new URLSearchParams(body).getAll("scope"))).toEqual([
      ["read write"],
      ["read write"],
      ["read write"],
    ]);
    const { url } = await oidc.authCode.start();
    expect(new URL(url).searchParams.get("scope")).toBe("read write");
    const kept = JSON.parse(JSON.stringify(started));
    const token = await oidc.device.poll(kept, { wait: async () => {} });
    const asked = new URLSearchParams(server.seen.at(-1)?.body);
    expect([asked.getAll("resource"), asked.has("scope")]).toEqual([resource, false]);
    await token.refresh();
    expect(lastRefresh()).toEqual([
      "scope=read write",
      ...resource.map((one) => `resource=${one}`),
    ]);
  });
});

describe("against oidc-provider with resource indicators", () => {
  const redirectUri = "https://app.example/callback";
  const api = "https://api.example/v1";
  const secret = "a client secret of thirty-two bytes or more";
  let provider: ProviderServer;
  beforeAll(async () => {
    provider = await startProvider(() => ({
      clients: [
        {
          client_id: "api",
          client_secret: secret,
          redirect_uris: [redirectUri],
          grant_types: ["authorization_code", "refresh_token"],
        },
      ],
      issueRefreshToken: async () => true,
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => [],
          getResourceServerInfo: () => ({
            scope: "openid read",
            audience: api,
            accessTokenFormat: "jwt",
            accessTokenTTL: 60,
          }),
        },
      },
    }));
  });
  afterAll(() => provider.close());

  it("a manager refreshes to a token for the same resource", async () => {
    const oidc = await OidcClient.discover(provider.issuer, "api", secret, { redirectUri });
    const { url, transaction } = await oidc.authCode.start({
      scope: ["openid", "read", "offline_access"],
      resource: api,
      prompt: "consent",
    });
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    const { scope } = decodeJwt(token.token);
    const store = new MemoryTokenStore();
    await new TokenManager(oidc, { store }).set(token);
    // Another process, which knows the token from the store only.
    const manager = new TokenManager(oidc, { store });
    const fresh = await manager.getToken({ refused: token });
    expect(fresh.token).not.toBe(token.token);
    expect(decodeJwt(fresh.token)).toMatchObject({ aud: api, scope });
  });
});
