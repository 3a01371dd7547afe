import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { AccessToken } from "../../src/index.ts";
import { codeChallenge, OidcClient } from "../../src/oidc/index.ts";
import { connect, html, idToken, issuer, metadata, now } from "../scripted-provider.ts";

describe("OidcClient", () => {
  it.each([
    ["an empty client identifier", () => new OidcClient(metadata, "")],
    ["no algorithms", () => new OidcClient(metadata, "a", "s", { idTokenAlgorithms: [] })],
    ["alg none", () => new OidcClient(metadata, "a", "s", { idTokenAlgorithms: ["none"] })],
    ["a negative tolerance", () => new OidcClient(metadata, "a", "s", { clockTolerance: -1 })],
    [
      "an allowInsecure that is text",
      () => new OidcClient(metadata, "a", "s", { allowInsecure: "false" as never }),
    ],
    ["an unknown option", () => new OidcClient(metadata, "a", "s", { x: 1 } as object)],
    [
      "a URL that the metadata has",
      () => new OidcClient(metadata, "a", "s", { tokenUrl: "/t" } as object),
    ],
  ])("throws for %s", (_case, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_OAUTH_OPTION" }));
  });

  it.each([
    [["client_secret_basic", "client_secret_post"], "authorization"],
    [["client_secret_post"], "client_secret"],
    [["client_secret_jwt"], "client_assertion"],
    [undefined, "authorization"],
  ])("authenticates as the server, which has %j, wants it: %s", async (methods, expected) => {
    const { client, sent } = connect(
      { "/introspect": () => Response.json({ active: false }) },
      { metadata: { token_endpoint_auth_methods_supported: methods } },
    );
    await client.introspect("t");
    const { headers, form } = sent[0] ?? { headers: new Headers(), form: new URLSearchParams() };
    const used = ["client_secret", "client_assertion"].filter((name) => form.has(name));
    expect([...(headers.has("authorization") ? ["authorization"] : []), ...used]).toEqual([
      expected,
    ]);
  });

  it("takes of the server's algorithms those that it knows, and that sign with a private key", async () => {
    const all = ["none", "HS256", "Ed448", "ES256K", "RS256"];
    const { client } = connect({}, { metadata: { id_token_signing_alg_values_supported: all } });
    expect(await client.verifyIdToken(await idToken())).toMatchObject({ sub: "user" });
    const none = ["none", "HS256"];
    const usual = connect({}, { metadata: { id_token_signing_alg_values_supported: none } });
    expect(await usual.client.verifyIdToken(await idToken())).toMatchObject({ sub: "user" });
  });

  it.each([
    [undefined, "openid"],
    ["read write", "read write"],
    ["", null],
  ])("signs in with the default scope %j as %j", async (defaultScope, expected) => {
    const { client } = connect({}, { defaultScope });
    const { url, transaction } = await client.authCode.start();
    expect(new URL(url).searchParams.get("scope")).toBe(expected);
    expect(transaction.nonce === undefined).toBe(expected !== "openid");
  });

  it("uses the aliases for clients with certificates", async () => {
    const aliases = {
      token_endpoint: `${issuer}/mtls/token`,
      introspection_endpoint: `${issuer}/mtls/i`,
    };
    const { client, sent } = connect(
      {
        "/mtls/token": () => Response.json({ access_token: "a", token_type: "Bearer" }),
        "/mtls/i": () => Response.json({ active: true }),
      },
      { authScheme: "tls_client_auth", metadata: { mtls_endpoint_aliases: aliases } },
    );
    await client.introspect(await client.clientCredentials.getToken());
    expect(sent.map(({ path }) => path)).toEqual(["/mtls/token", "/mtls/i"]);
  });

  it.each([
    ["of another issuer", { iss: "https://evil.example" }],
    ["for another client", { aud: "other" }],
    ["that has expired", { exp: 1 }],
  ])(
    "returns no token that comes with an ID token %s, whatever raiseErrors is",
    async (_case, claims) => {
      const answer = async (): Promise<Response> =>
        Response.json({ access_token: "a", token_type: "Bearer", id_token: await idToken(claims) });
      for (const raiseErrors of [true, false]) {
        const { client } = connect({ "/token": answer }, { raiseErrors });
        await expect(client.password.getToken("u", "p")).rejects.toMatchObject({
          code: "ERR_OAUTH_TOKEN_INVALID",
        });
      }
    },
  );

  it.each([
    ["for want of another", {}, {}],
    ["by tokenName", { access_token: "a" }, { tokenName: "id_token" }],
  ])("validates an ID token that is the token itself, %s", async (_case, fields, options) => {
    let claims = {};
    const { client } = connect({
      "/token": async () =>
        Response.json({ ...fields, token_type: "Bearer", id_token: await idToken(claims) }),
    });
    const ask = (): ReturnType<OidcClient["getToken"]> =>
      client.getToken({ grant_type: "custom" }, options);
    expect(client.claims(await ask())).toMatchObject({ sub: "user" });
    claims = { aud: "other" };
    await expect(ask()).rejects.toMatchObject({ claim: "aud" });
  });

  it("knows the claims of tokens whose ID token it has validated, and of no others", async () => {
    const { client } = connect({
      "/token": async () =>
        Response.json({ access_token: "a", token_type: "Bearer", id_token: await idToken() }),
    });
    const token = await client.password.getToken("u", "p");
    expect(client.claims(token)).toMatchObject({ sub: "user" });
    expect(client.claims(AccessToken.fromHash(client, token.toHash()))).toBeUndefined();
  });

  it("refuses a refreshed ID token of another user", async () => {
    let sub = "user";
    const { client } = connect({
      "/token": async () =>
        Response.json({
          access_token: "a",
          token_type: "Bearer",
          refresh_token: "r",
          id_token: await idToken({ sub }),
        }),
    });
    const token = await client.password.getToken("u", "p");
    expect(client.claims(await token.refresh())).toMatchObject({ sub: "user" });
    const restored = AccessToken.fromHash(client, JSON.parse(JSON.stringify(token.toHash())));
    sub = "other";
    await expect(restored.refresh()).rejects.toMatchObject({ claim: "sub" });
    await expect(token.refresh()).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN_INVALID",
      claim: "sub",
    });
  });

  it("knows the claims of a refreshed token, also when the answer has neither ID token nor refresh token", async () => {
    const answers = [
      { access_token: "a", token_type: "Bearer", refresh_token: "r", id_token: await idToken() },
      { access_token: "b", token_type: "Bearer" },
      { access_token: "c", token_type: "Bearer", id_token: await idToken({ acr: "new" }) },
    ];
    const { client } = connect({ "/token": () => Response.json(answers.shift()) });
    const token = await client.password.getToken("u", "p");
    const second = await token.refresh();
    expect(client.claims(second)).toMatchObject({ sub: "user" });
    expect(second.refreshToken).toBe("r");
    expect(client.claims(await second.refresh())).toMatchObject({ sub: "user", acr: "new" });
  });

  it("finds the tenant of Microsoft's issuer in the claims", async () => {
    const template = "https://login.microsoftonline.com/{tenantid}/v2.0";
    const tid = "9188040d-6c67-4c5b-b112-36a304b66dad";
    const { client } = connect({}, { metadata: { issuer: template } });
    const iss = template.replace("{tenantid}", tid);
    expect(await client.verifyIdToken(await idToken({ iss, tid }))).toMatchObject({ iss });
    for (const wrong of [
      { iss, tid: "other" },
      { iss: template.replace("{tenantid}", "x/.."), tid: "x/.." },
      { iss: template.replace("{tenantid}", ""), tid: "" },
      { iss: "https://evil.example", tid },
      { iss: template },
    ]) {
      await expect(client.verifyIdToken(await idToken(wrong))).rejects.toMatchObject({
        claim: "iss",
      });
    }
  });

  it("verifies HS256 with the client secret where that is named, and with nothing else", async () => {
    const claims = { iss: issuer, aud: "app", sub: "user", iat: now(), exp: now() + 60 };
    const signedWith = (key: string): string => {
      const parts = [{ alg: "HS256" }, claims].map((part) =>
        Buffer.from(JSON.stringify(part)).toString("base64url"),
      );
      const signature = createHmac("sha256", key).update(parts.join(".")).digest("base64url");
      return [...parts, signature].join(".");
    };
    const named = { idTokenAlgorithms: ["HS256"] };
    const secret = "a secret of thirty-two characters";
    const judge = (secretOf: string | null, jwt: string, options = {}): Promise<unknown> =>
      new OidcClient(metadata, "app", secretOf, options)
        .verifyIdToken(jwt)
        .then(({ sub }) => sub)
        .catch((error: unknown) => Object(error).name);
    expect(await judge(secret, signedWith(secret), named)).toBe("user");
    expect(await judge(secret, signedWith(secret))).toBe("TokenValidationError");
    expect(await judge(secret, signedWith("another"), named)).toBe("TokenValidationError");
    expect(await judge("", signedWith(""), named)).toBe("TokenValidationError");
    for (const key of ["", "null", "undefined"]) {
      expect(await judge(null, signedWith(key), named)).toBe("MetadataError");
    }
  });

  it("shows no secret when it is inspected", () => {
    const { client } = connect({});
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain("s3cr3t-value");
    expect(JSON.stringify(client)).not.toContain("s3cr3t-value");
  });
});

describe("pushAuthorization", () => {
  it.each<readonly [string, () => Response]>([
    ["HTML", html],
    ["no request_uri", () => Response.json({ expires_in: 60 }, { status: 201 })],
    ["no expires_in", () => Response.json({ request_uri: "urn:x" }, { status: 201 })],
    ["an expires_in of 0", () => Response.json({ request_uri: "urn:x", expires_in: 0 })],
  ])("refuses %s", async (_case, answer) => {
    const { client } = connect({ "/par": answer });
    await expect(client.pushAuthorization({})).rejects.toMatchObject({
      code: "ERR_OAUTH_RESPONSE",
    });
  });

  it("is what start does where the server requires it; the endpoint keeps its own query", async () => {
    const { client, sent } = connect(
      { "/par": () => Response.json({ request_uri: "urn:x", expires_in: 60 }, { status: 201 }) },
      { metadata: { require_pushed_authorization_requests: true } },
    );
    const { url, transaction } = await client.authCode.start({
      scope: "openid",
      resource: ["https://a/", "https://b/"],
    });
    expect(url).toBe(`${issuer}/auth?tenant=1&client_id=app&request_uri=urn%3Ax`);
    expect(sent[0]?.form.getAll("resource")).toEqual(["https://a/", "https://b/"]);
    expect(sent[0]?.form.get("state")).toBe(transaction.state);
    expect(sent[0]?.form.has("tenant")).toBe(false);
  });

  it("pushes each parameter, also those that the query of the endpoint has with another value", async () => {
    const { client, sent } = connect(
      { "/par": () => Response.json({ request_uri: "urn:x", expires_in: 60 }, { status: 201 }) },
      {
        pushAuthorization: true,
        metadata: { authorization_endpoint: `${issuer}/auth?tenant=1&state=x&code_challenge=y` },
      },
    );
    const { transaction } = await client.authCode.start();
    const form = sent[0]?.form;
    expect(form?.getAll("state")).toEqual([transaction.state]);
    expect(form?.get("code_challenge")).toBe(await codeChallenge(transaction.codeVerifier));
    expect(form?.has("tenant")).toBe(false);
  });

  it("reports what the server refuses", async () => {
    const { client } = connect({
      "/par": () =>
        Response.json({ error: "invalid_request", error_description: "no" }, { status: 400 }),
    });
    const call = client.pushAuthorization({});
    await expect(call).rejects.toMatchObject({ code: "invalid_request", description: "no" });
  });
});

describe("tokenExchange", () => {
  it("sends both tokens with their kinds, and says what was issued", async () => {
    const issued = "urn:ietf:params:oauth:token-type:access_token";
    const { client, sent } = connect({
      "/token": () =>
        Response.json({ access_token: "x", issued_token_type: issued, token_type: "N_A" }),
    });
    const token = await client.tokenExchange.getToken({
      subjectToken: "s",
      actorToken: "a",
      actorTokenType: "jwt",
      requestedTokenType: "urn:example:custom",
      resource: ["https://a/", "https://b/"],
      audience: "backend",
      scope: "read",
    });
    expect(token.params["issued_token_type"]).toBe(issued);
    const form = sent[0]?.form ?? new URLSearchParams();
    form.sort();
    expect([...form]).toEqual([
      ["actor_token", "a"],
      ["actor_token_type", "urn:ietf:params:oauth:token-type:jwt"],
      ["audience", "backend"],
      ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ["requested_token_type", "urn:example:custom"],
      ["resource", "https://a/"],
      ["resource", "https://b/"],
      ["scope", "read"],
      ["subject_token", "s"],
      ["subject_token_type", issued],
    ]);
  });

  it("refuses an answer that does not say what was issued", async () => {
    const { client } = connect({
      "/token": () => Response.json({ access_token: "x", token_type: "Bearer" }),
    });
    const call = client.tokenExchange.getToken({ subjectToken: "s" });
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_RESPONSE" });
  });

  it("needs a subject token", async () => {
    const call = connect({}).client.tokenExchange.getToken({ subjectToken: "" });
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });
});

describe("endSessionUrl", () => {
  it("has what is given, besides the endpoint's own query", () => {
    const url = connect({}).client.endSessionUrl({
      idTokenHint: "e.y.J",
      postLogoutRedirectUri: "https://app.example/?a=1&b=2",
      state: "s p",
      params: { extra: "1", ui_locales: "de en" },
    });
    expect([...new URL(url).searchParams]).toEqual([
      ["x", "1"],
      ["extra", "1"],
      ["ui_locales", "de en"],
      ["client_id", "app"],
      ["id_token_hint", "e.y.J"],
      ["post_logout_redirect_uri", "https://app.example/?a=1&b=2"],
      ["state", "s p"],
    ]);
  });

  it("says that the server has no such endpoint", () => {
    const { client } = connect({}, { metadata: { end_session_endpoint: undefined } });
    expect(() => client.endSessionUrl()).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_METADATA" }),
    );
  });
});
