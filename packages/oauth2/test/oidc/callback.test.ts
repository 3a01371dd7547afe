import { isExposedError } from "@fetchwork/kit";
import * as oauth from "oauth4webapi";
import * as openidClient from "openid-client";
import { describe, expect, it } from "vitest";
import { AuthorizationResponseError, OAuth2Client } from "../../src/index.ts";
import { OidcClient, type ServerMetadata } from "../../src/oidc/index.ts";

const issuer = "https://op.example";
const redirectUri = "https://app.example/cb";

/** A client that knows OAuth only as far as these tests go: its sign-ins ask for no ID token. */
function makeClient(metadata: Partial<ServerMetadata> = {}): OidcClient {
  const server = {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    ...metadata,
  };
  const fetch = (): Response => Response.json({ access_token: "at", token_type: "Bearer" });
  return new OidcClient(server, "app", null, { redirectUri, fetch, defaultScope: "read" });
}

const requiresIss = { authorization_response_iss_parameter_supported: true };

// `{state}` stands for the state of the transaction.
const cases: readonly (readonly [
  query: string,
  verdict: string,
  metadata: Partial<ServerMetadata>,
])[] = [
  ["code=c&state={state}", "accepts", {}],
  [`code=c&state={state}&iss=${issuer}`, "accepts", {}],
  [`code=c&state={state}&iss=${issuer}`, "accepts", requiresIss],
  ["code=c&state={state}", "refuses", requiresIss],
  ["code=c&state={state}&iss=https://evil.example", "refuses", {}],
  [`code=c&state={state}&iss=${issuer}/`, "refuses", {}],
  [`code=c&state={state}&iss=${issuer}&iss=${issuer}`, "refuses", {}],
  ["code=c", "refuses", {}],
  ["code=c&state=", "refuses", {}],
  ["code=c&state=other", "refuses", {}],
  ["code=c&state={state}x", "refuses", {}],
  ["code=c&state={state}&state={state}", "refuses", {}],
  ["code=c&code=d&state={state}", "refuses", {}],
  ["state={state}", "refuses", {}],
  ["code=&state={state}", "refuses", {}],
  ["", "refuses", {}],
  ["error=access_denied&state={state}", "refuses", {}],
  ["error=access_denied&error=other&state={state}", "refuses", {}],
  ["error=access_denied&state=other", "refuses", {}],
  ["error=access_denied&code=c&state={state}", "refuses", {}],
  ["code=c&state={state}&id_token=x", "refuses", {}],
  ["code=c&state={state}&token=x", "refuses", {}],
  ["response=jwt&state={state}", "refuses", {}],
  ["code=c&state={state}&session_state=s&extra=1", "accepts", {}],
];

describe("authCode.callback, next to oauth4webapi and openid-client", () => {
  it.each(cases)("judges ?%s alike: %s, metadata %o", async (template, verdict, metadata) => {
    const client = makeClient(metadata);
    const { transaction } = await client.authCode.start();
    const { state, codeVerifier } = transaction;
    const url = new URL(`${redirectUri}?${template.replaceAll("{state}", state)}`);
    const judge = (judged: () => unknown): Promise<string> =>
      Promise.resolve()
        .then(judged)
        .then(
          () => "accepts",
          () => "refuses",
        );

    const server: oauth.AuthorizationServer = JSON.parse(JSON.stringify(client.metadata));
    const judgements = {
      ours: await judge(() => client.authCode.callback(url, transaction)),
      oauth4webapi: await judge(async () => {
        const checked = oauth.validateAuthResponse(server, { client_id: "app" }, url, state);
        await oauth.authorizationCodeGrantRequest(
          server,
          { client_id: "app" },
          oauth.None(),
          checked,
          redirectUri,
          codeVerifier,
          { [oauth.customFetch]: async () => Response.json({}) },
        );
      }),
      openidClient: await judge(() => {
        const config = new openidClient.Configuration(
          server,
          "app",
          undefined,
          openidClient.None(),
        );
        config[openidClient.customFetch] = async () =>
          Response.json({ access_token: "at", token_type: "bearer" });
        const checks = { expectedState: state, pkceCodeVerifier: codeVerifier };
        return openidClient.authorizationCodeGrant(config, url, checks);
      }),
    };
    // An empty code is sent by both, for the server to refuse; we do not ask.
    const theirs = template.startsWith("code=&") ? judgements.oauth4webapi : verdict;
    expect(judgements).toEqual({ ours: verdict, oauth4webapi: theirs, openidClient: theirs });
  });
});

describe("authCode.callback", () => {
  it("reads a URL, a query, a path, a GET request and a form_post alike", async () => {
    const client = makeClient();
    const { transaction } = await client.authCode.start();
    const query = `code=c&state=${transaction.state}`;
    const form = { method: "POST", body: new URLSearchParams(query) };
    for (const input of [
      new URL(`${redirectUri}?${query}`),
      new URLSearchParams(query),
      `${redirectUri}?${query}`,
      `/cb?${query}#_=_`,
      `?${query}`,
      query,
      new Request(`${redirectUri}?${query}`),
      new Request(redirectUri, form),
    ]) {
      expect((await client.authCode.callback(input, transaction)).token).toBe("at");
    }
  });

  it.each([
    ["a body that is not a form", { body: "{}", headers: { "content-type": "application/json" } }],
    ["no body", {}],
    ["an endless body", { body: new URLSearchParams({ code: "c".repeat(70_000) }) }],
  ])("refuses a POST with %s", async (_case, given) => {
    const client = makeClient();
    const { transaction } = await client.authCode.start();
    const init = { ...given };
    if ("body" in init && init.body instanceof URLSearchParams)
      init.body.set("state", transaction.state);
    const request = new Request(redirectUri, { method: "POST", ...init });
    await expect(client.authCode.callback(request, transaction)).rejects.toThrow(
      AuthorizationResponseError,
    );
  });

  it.each(["code=c", "code=c&state=other", "state={state}", "code=c&state={state}&token=x"])(
    "says of ?%s that it is not of this sign-in",
    async (template) => {
      const client = makeClient();
      const { transaction } = await client.authCode.start();
      const query = template.replace("{state}", transaction.state);
      await expect(client.authCode.callback(query, transaction)).rejects.toMatchObject({
        name: "AuthorizationResponseError",
        code: "ERR_OAUTH_CALLBACK",
      });
    },
  );

  it("says why the server refused, without what could forge a log line", async () => {
    const client = makeClient();
    const { transaction } = await client.authCode.start();
    const query = new URLSearchParams({
      error: "access_denied",
      error_description: "no\r\n[INFO] all is well",
      error_uri: "https://op.example/help",
      state: transaction.state,
    });
    const error: unknown = await client.authCode.callback(query, transaction).catch(String);
    expect(error).toBe("AuthorizationResponseError: access_denied: no [INFO] all is well");
    await expect(client.authCode.callback(query, transaction)).rejects.toMatchObject({
      code: "access_denied",
      uri: "https://op.example/help",
    });
  });

  it("refuses the transaction of another server", async () => {
    const { transaction } = await makeClient({ issuer: "https://other.example" }).authCode.start();
    const query = `code=c&state=${transaction.state}`;
    await expect(makeClient().authCode.callback(query, transaction)).rejects.toMatchObject({
      code: "ERR_OAUTH_CALLBACK",
    });
  });

  it("refuses a callback that comes after the time the user had", async () => {
    let now = 1_000_000;
    const server = { issuer, authorization_endpoint: `${issuer}/a`, token_endpoint: `${issuer}/t` };
    const client = new OidcClient(server, "app", null, { clock: () => now, defaultScope: "read" });
    const { transaction } = await client.authCode.start({}, { lifetime: 60 });
    now += 60_000;
    const query = `code=c&state=${transaction.state}`;
    await expect(client.authCode.callback(query, transaction)).rejects.toThrow(/expired/);
  });

  it.each([
    undefined,
    null,
    {},
    { state: "s" },
    { state: "", codeVerifier: "", expiresAt: 1 },
    "s",
  ])("refuses %o for a transaction", async (wrong) => {
    const call = makeClient().authCode.callback("code=c&state=s", wrong as never);
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("insists on an ID token where one was asked for", async () => {
    const client = makeClient();
    const { transaction } = await client.authCode.start({ scope: "openid" });
    const call = client.authCode.callback(`code=c&state=${transaction.state}`, transaction);
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN_INVALID" });
  });
});

describe("what authCode.callback throws", () => {
  it("becomes the user's error in a server, with a message that may be shown", async () => {
    const client = makeClient();
    const { transaction } = await client.authCode.start();
    for (const query of ["code=c&state=other", `error=access_denied&state=${transaction.state}`]) {
      const error: unknown = await client.authCode
        .callback(query, transaction)
        .catch((reason: unknown) => reason);
      expect(isExposedError(error)).toBe(true);
      expect(error).toMatchObject({ name: "AuthorizationResponseError", status: 400 });
    }
  });

  it("refuses a transaction that lost the nonce of its scope openid, before it sends the code", async () => {
    const client = makeClient();
    const { transaction } = await client.authCode.start({ scope: "openid" });
    const { nonce, ...rest } = transaction;
    expect(nonce).toEqual(expect.any(String));
    for (const cut of [rest, { ...rest, nonce: "" }]) {
      await expect(
        client.authCode.callback(`code=c&state=${transaction.state}`, cut),
      ).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
    }
  });
});

describe("authCode.start", () => {
  it.each([
    ["state", { state: "mine" }],
    ["nonce", { nonce: "mine" }],
    ["code_challenge", { code_challenge: "mine" }],
    ["request_uri", { request_uri: "urn:x" }],
    ["response_type", { response_type: "token" }],
    ["max_age", { max_age: "soon" }],
    ["client_secret", { client_secret: "s" }],
  ])("refuses the parameter %s", async (_name, params) => {
    await expect(makeClient().authCode.start(params)).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("refuses a lifetime of 0", async () => {
    await expect(makeClient().authCode.start({}, { lifetime: 0 })).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("refuses the scope openid with a client that would not validate the ID token", async () => {
    const client = new OAuth2Client("app", null, { site: issuer, redirectUri });
    await expect(client.authCode.start({ scope: "profile openid" })).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("makes new secrets each time, and no URL shows the verifier", async () => {
    const client = makeClient();
    const [one, two] = [await client.authCode.start(), await client.authCode.start()];
    expect(one.transaction.state).not.toBe(two.transaction.state);
    expect(one.transaction.codeVerifier).not.toBe(two.transaction.codeVerifier);
    expect(one.url).not.toContain(one.transaction.codeVerifier);
    const query = new URL(one.url).searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      client_id: "app",
      response_type: "code",
      redirect_uri: redirectUri,
      scope: "read",
      state: one.transaction.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(one.transaction.codeVerifier),
      code_challenge_method: "S256",
    });
    expect(query.has("nonce")).toBe(false);
  });

  it("works with a client that knows OAuth only", async () => {
    const sent: URLSearchParams[] = [];
    const client = new OAuth2Client("app", "secret", {
      site: issuer,
      redirectUri,
      async fetch(request) {
        sent.push(new URLSearchParams(await request.text()));
        return Response.json({ access_token: "at", token_type: "Bearer" });
      },
    });
    const { url, transaction } = await client.authCode.start({
      resource: ["https://a/", "https://b/"],
    });
    const state = new URL(url).searchParams.get("state");
    const token = await client.authCode.callback(`code=c&state=${state}`, transaction);
    expect(token.token).toBe("at");
    expect(Object.fromEntries(sent[0] ?? [])).toMatchObject({
      grant_type: "authorization_code",
      code: "c",
      redirect_uri: redirectUri,
      code_verifier: transaction.codeVerifier,
    });
    expect(sent[0]?.getAll("resource")).toEqual(["https://a/", "https://b/"]);
  });
});
