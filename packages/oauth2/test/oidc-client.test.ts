import { inspect } from "node:util";
import { decodeJwt, exportJWK, generateKeyPair, jwtVerify, SignJWT, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { AccessToken } from "../src/index.ts";
import {
  DPoP,
  fetchResourceMetadata,
  OidcClient,
  parseChallenges,
  registerClient,
  resourceMetadataUrl,
  signRequestObject,
  stepUp,
  type OidcClientOptions,
  type ServerMetadata,
} from "../src/oidc/index.ts";

const issuer = "https://op.example";
const metadata: ServerMetadata = {
  issuer,
  authorization_endpoint: `${issuer}/auth?tenant=1`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  userinfo_endpoint: `${issuer}/me`,
  introspection_endpoint: `${issuer}/introspect`,
  pushed_authorization_request_endpoint: `${issuer}/par`,
  registration_endpoint: `${issuer}/register`,
  end_session_endpoint: `${issuer}/logout?x=1`,
};
let privateKey: CryptoKey;
let publicKey: CryptoKey;
let jwk: JWK;

beforeAll(async () => {
  ({ privateKey, publicKey } = await generateKeyPair("RS256"));
  jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };
});

interface Sent {
  readonly path: string;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

/** A client whose server answers each path with what is given for it, and what it was sent. */
function connect(
  answers: Readonly<Record<string, (sent: Sent) => Response | Promise<Response>>>,
  options: OidcClientOptions & { readonly metadata?: Partial<ServerMetadata> } = {},
): { readonly client: OidcClient; readonly sent: Sent[] } {
  const { metadata: changes, ...rest } = options;
  const sent: Sent[] = [];
  const client = new OidcClient({ ...metadata, ...changes }, "app", "s3cr3t-value", {
    redirectUri: "https://app.example/cb",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/jwks") return Response.json({ keys: [jwk] });
      const form = new URLSearchParams(await request.text());
      const one = { path: pathname, headers: request.headers, form };
      sent.push(one);
      const answer = answers[pathname];
      if (answer === undefined) throw new Error(`nothing at ${pathname}`);
      return answer(one);
    },
    ...rest,
  });
  return { client, sent };
}

const sign = (claims: object, typ?: string): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "k", ...(typ !== undefined && { typ }) })
    .sign(privateKey);
const now = (): number => Math.floor(Date.now() / 1000);
const idToken = (claims: object = {}): Promise<string> =>
  sign({ iss: issuer, aud: "app", sub: "user", iat: now(), exp: now() + 60, ...claims });
const jwtAnswer = (type: string, body: string): Response =>
  new Response(body, { headers: { "content-type": type } });
const html = (): Response => new Response("<html>", { headers: { "content-type": "text/html" } });
const away = (): Response =>
  new Response(null, { status: 307, headers: { location: "https://evil.example/" } });

describe("OidcClient", () => {
  it.each([
    ["an empty client identifier", () => new OidcClient(metadata, "")],
    ["no algorithms", () => new OidcClient(metadata, "a", "s", { idTokenAlgorithms: [] })],
    ["alg none", () => new OidcClient(metadata, "a", "s", { answerAlgorithms: ["none"] })],
    ["a negative tolerance", () => new OidcClient(metadata, "a", "s", { clockTolerance: -1 })],
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
    "gives no token that comes with an ID token %s, whatever raiseErrors is",
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
      { iss: "https://evil.example", tid },
      { iss: template },
    ]) {
      await expect(client.verifyIdToken(await idToken(wrong))).rejects.toMatchObject({
        claim: "iss",
      });
    }
  });

  it("shows no secret when it is inspected", () => {
    const { client } = connect({});
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain("s3cr3t-value");
    expect(JSON.stringify(client)).not.toContain("s3cr3t-value");
  });
});

describe("userInfo", () => {
  it.each<readonly [string, string, () => Response | Promise<Response>]>([
    ["HTML", "ERR_OAUTH_RESPONSE", html],
    ["a list", "ERR_OAUTH_RESPONSE", () => Response.json([])],
    ["no content", "ERR_OAUTH_RESPONSE", () => new Response(null, { status: 204 })],
    ["a redirect", "ERR_OAUTH_REDIRECT", away],
    ["no sub", "ERR_OAUTH_TOKEN_INVALID", () => Response.json({ name: "x" })],
    ["a sub that is a list", "ERR_OAUTH_TOKEN_INVALID", () => Response.json({ sub: ["user"] })],
    ["another user", "ERR_OAUTH_TOKEN_INVALID", () => Response.json({ sub: "other" })],
    [
      "an error without a challenge",
      "server_error",
      () => Response.json({ error: "server_error" }, { status: 500 }),
    ],
    ["a JWT that is none", "ERR_OAUTH_TOKEN_INVALID", () => jwtAnswer("application/jwt", "x.y.z")],
    [
      "a JWT of another issuer",
      "ERR_OAUTH_TOKEN_INVALID",
      async () =>
        jwtAnswer("application/jwt", await sign({ sub: "user", iss: "https://evil.example" })),
    ],
    [
      "a JWT for another client",
      "ERR_OAUTH_TOKEN_INVALID",
      async () => jwtAnswer("application/jwt", await sign({ sub: "user", aud: "other" })),
    ],
    [
      "a JWT that has expired",
      "ERR_OAUTH_TOKEN_INVALID",
      async () => jwtAnswer("application/jwt", await sign({ sub: "user", exp: 1 })),
    ],
  ])("refuses %s", async (_case, code, answer) => {
    const { client } = connect({ "/me": answer });
    const call = client.userInfo("secret-token", { expectedSub: "user" });
    await expect(call).rejects.toMatchObject({ code });
    await expect(call).rejects.not.toThrow(/secret-token/);
  });

  it("gives claims as JSON or JWT, with the token in the header only", async () => {
    const claims = { sub: "user", email: "a@b.c" };
    const { client, sent } = connect({ "/me": () => Response.json(claims) });
    expect(await client.userInfo("t", { expectedSub: "user" })).toEqual(claims);
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer t");
    const signed = connect({ "/me": async () => jwtAnswer("application/jwt", await sign(claims)) });
    expect(await signed.client.userInfo("t", { expectedSub: false })).toEqual(claims);
  });

  it.each([undefined, ""])("needs a subject to compare with, not %j", async (expectedSub) => {
    await expect(connect({}).client.userInfo("t", { expectedSub })).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it.each(["", "a b", "a\r\nb"])("does not send %j for a token", async (token) => {
    const call = connect({}).client.userInfo(token, { expectedSub: false });
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("gives the challenges of a resource that refuses the token", async () => {
    const field =
      'Bearer error="insufficient_user_authentication", error_description="too weak", acr_values="gold silver", max_age="60"';
    const { client } = connect({
      "/me": () => new Response(null, { status: 401, headers: { "www-authenticate": field } }),
    });
    const error: unknown = await client
      .userInfo("t", { expectedSub: false })
      .catch((e: unknown) => e);
    expect(error).toMatchObject({
      name: "ChallengeError",
      code: "insufficient_user_authentication",
      description: "too weak",
      challenges: [{ scheme: "bearer" }],
    });
  });

  it("sends a bearer token plainly even where the client has a key", async () => {
    const { client, sent } = connect(
      {
        "/me": () => Response.json({ sub: "user" }),
        "/token": async () =>
          Response.json({ access_token: "a", token_type: "Bearer", id_token: await idToken() }),
      },
      { dpop: await DPoP.generate() },
    );
    await client.userInfo(await client.password.getToken("u", "p"));
    expect(sent[1]?.headers.get("authorization")).toBe("Bearer a");
    expect(sent[1]?.headers.has("dpop")).toBe(false);
  });
});

describe("introspect", () => {
  const type = "application/token-introspection+jwt";
  const answer = { iss: issuer, aud: "app", iat: 1, token_introspection: { active: true } };

  it.each<readonly [string, string, () => Response | Promise<Response>]>([
    ["HTML", "ERR_OAUTH_RESPONSE", html],
    ["nothing about active", "ERR_OAUTH_RESPONSE", () => Response.json({ scope: "x" })],
    ["an active that is text", "ERR_OAUTH_RESPONSE", () => Response.json({ active: "true" })],
    [
      "an error with status 200",
      "invalid_request",
      () => Response.json({ error: "invalid_request" }),
    ],
    ["a redirect", "ERR_OAUTH_REDIRECT", away],
    [
      "a JWT of another type",
      "ERR_OAUTH_TOKEN_INVALID",
      async () => jwtAnswer(type, await sign(answer, "JWT")),
    ],
    [
      "a JWT for another client",
      "ERR_OAUTH_TOKEN_INVALID",
      async () =>
        jwtAnswer(type, await sign({ ...answer, aud: "other" }, "token-introspection+jwt")),
    ],
    [
      "a JWT of another issuer",
      "ERR_OAUTH_TOKEN_INVALID",
      async () =>
        jwtAnswer(
          type,
          await sign({ ...answer, iss: "https://evil.example" }, "token-introspection+jwt"),
        ),
    ],
    [
      "a JWT without an answer",
      "ERR_OAUTH_RESPONSE",
      async () =>
        jwtAnswer(
          type,
          await sign({ ...answer, token_introspection: true }, "token-introspection+jwt"),
        ),
    ],
  ])("refuses %s", async (_case, code, respond) => {
    const { client } = connect({ "/introspect": respond });
    await expect(client.introspect("secret-token")).rejects.toMatchObject({ code });
  });

  it("refuses an answer that is not signed where a signed one was asked for", async () => {
    const { client } = connect({ "/introspect": () => Response.json({ active: true }) });
    await expect(client.introspect("t", { signed: true })).rejects.toMatchObject({
      code: "ERR_OAUTH_RESPONSE",
    });
  });

  it("sends the token in the body, with its hint and further parameters", async () => {
    const { client, sent } = connect({ "/introspect": () => Response.json({ active: false }) });
    await client.introspect("t", {
      tokenTypeHint: "refresh_token",
      params: { resource: "https://r/" },
    });
    expect(Object.fromEntries(sent[0]?.form ?? [])).toEqual({
      token: "t",
      token_type_hint: "refresh_token",
      resource: "https://r/",
    });
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

  it("reports what the server refuses", async () => {
    const { client } = connect({
      "/par": () =>
        Response.json({ error: "invalid_request", error_description: "no" }, { status: 400 }),
    });
    const call = client.pushAuthorization({});
    await expect(call).rejects.toMatchObject({ code: "invalid_request", description: "no" });
  });
});

describe("signRequestObject", () => {
  it.each([
    ["a request inside", { request: "x" }],
    ["a max_age that is no number", { max_age: "soon" }],
    ["claims that are no object", { claims: "[]" }],
    ["claims that are no JSON", { claims: "{" }],
    ["authorization_details that are no list", { authorization_details: {} }],
  ])("refuses %s", async (_case, params) => {
    const call = signRequestObject(params, { clientId: "app", audience: issuer, key: privateKey });
    await expect(call).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("signs parameters with the types that they have in JSON", async () => {
    const details = [{ type: "payment" }];
    const params = {
      scope: "openid",
      max_age: "60",
      claims: '{"id_token":{"acr":null}}',
      authorization_details: details,
      resource: ["https://a/", "https://b/"],
      prompt: undefined,
      iss: "forged",
    };
    const options = { clientId: "app", audience: issuer, key: privateKey, kid: "k", now: now() };
    const { payload, protectedHeader } = await jwtVerify(
      await signRequestObject(params, options),
      publicKey,
      { typ: "oauth-authz-req+jwt", audience: issuer, issuer: "app" },
    );
    expect(protectedHeader).toMatchObject({ kid: "k", alg: "RS256" });
    expect(payload).toEqual({
      scope: "openid",
      max_age: 60,
      claims: { id_token: { acr: null } },
      authorization_details: details,
      resource: ["https://a/", "https://b/"],
      client_id: "app",
      iss: "app",
      aud: issuer,
      jti: expect.any(String),
      iat: options.now,
      nbf: options.now,
      exp: options.now + 60,
    });
  });

  it("needs a key in the options of the client", async () => {
    await expect(connect({}).client.signRequestObject({})).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("is what start does where the client has a key", async () => {
    const { client } = connect({}, { requestObject: { key: privateKey } });
    const { url, transaction } = await client.authCode.start({ scope: "openid" });
    const query = new URL(url).searchParams;
    expect([...query.keys()]).toEqual(["tenant", "client_id", "response_type", "scope", "request"]);
    expect(decodeJwt(query.get("request") ?? "")).toMatchObject({
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge_method: "S256",
    });
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
    expect([...(sent[0]?.form ?? [])].toSorted()).toEqual([
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

describe("registerClient", () => {
  const register = (answer: () => Response): Promise<unknown> =>
    registerClient(metadata, { redirect_uris: [] }, { fetch: answer });

  it.each<readonly [string, string, () => Response]>([
    ["HTML", "ERR_OAUTH_RESPONSE", html],
    ["no client_id", "ERR_OAUTH_RESPONSE", () => Response.json({}, { status: 201 })],
    [
      "a secret that is empty",
      "ERR_OAUTH_RESPONSE",
      () => Response.json({ client_id: "a", client_secret: "" }),
    ],
    [
      "an end that is text",
      "ERR_OAUTH_RESPONSE",
      () => Response.json({ client_id: "a", client_secret_expires_at: "0" }),
    ],
    ["a redirect", "ERR_OAUTH_REDIRECT", away],
    [
      "an error",
      "invalid_client_metadata",
      () => Response.json({ error: "invalid_client_metadata" }, { status: 400 }),
    ],
  ])("refuses %s", async (_case, code, answer) => {
    await expect(register(answer)).rejects.toMatchObject({ code });
  });

  it("refuses a token that would forge a header, and http to other machines", async () => {
    const wrong = registerClient(metadata, {}, { initialAccessToken: "a\r\nb" });
    await expect(wrong).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
    const open = { issuer, registration_endpoint: "http://op.example/register" };
    await expect(registerClient(open, {})).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
  });
});

describe("endSessionUrl", () => {
  it("has what is given, besides the endpoint's own query", () => {
    const url = connect({}).client.endSessionUrl({
      idTokenHint: "e.y.J",
      postLogoutRedirectUri: "https://app.example/?a=1&b=2",
      state: "s p",
      logoutHint: "user",
      uiLocales: ["de", "en"],
      params: { extra: "1" },
    });
    expect([...new URL(url).searchParams]).toEqual([
      ["x", "1"],
      ["extra", "1"],
      ["client_id", "app"],
      ["id_token_hint", "e.y.J"],
      ["post_logout_redirect_uri", "https://app.example/?a=1&b=2"],
      ["state", "s p"],
      ["logout_hint", "user"],
      ["ui_locales", "de en"],
    ]);
  });

  it("says that the server has no such endpoint", () => {
    const { client } = connect({}, { metadata: { end_session_endpoint: undefined } });
    expect(() => client.endSessionUrl()).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_METADATA" }),
    );
  });
});

describe("stepUp", () => {
  const of = (field: string): unknown => stepUp(parseChallenges(field));

  it("reads what the resource wants", () => {
    const error = 'error="insufficient_user_authentication"';
    expect(of(`Bearer ${error}, acr_values="gold silver", max_age="60", scope="pay"`)).toEqual({
      acr_values: "gold silver",
      max_age: 60,
      scope: "pay",
    });
    expect(of(`Bearer ${error}, max_age="-1"`)).toEqual({});
    expect(of(`Basic, DPoP ${error}, max_age=0`)).toEqual({ max_age: 0 });
  });

  it.each(['Bearer error="invalid_token", max_age="1"', "Bearer", ""])(
    "finds none in %s",
    (field) => {
      expect(of(field)).toBeUndefined();
    },
  );

  it("is what start takes, and the new ID token must be as recent as that", async () => {
    let authTime = now() - 3600;
    const { client } = connect({
      "/token": async () =>
        Response.json({
          access_token: "a",
          token_type: "Bearer",
          id_token: await idToken({ nonce, auth_time: authTime, acr: "silver" }),
        }),
    });
    let nonce: string | undefined;
    const wanted = { scope: "openid", acr_values: "gold silver", max_age: 60 };
    const signIn = async (): Promise<unknown> => {
      const { transaction } = await client.authCode.start(wanted, { requireAcr: true });
      ({ nonce } = transaction);
      return client.authCode.callback(`code=c&state=${transaction.state}`, transaction);
    };
    await expect(signIn()).rejects.toMatchObject({ claim: "auth_time" });
    authTime = now();
    expect(await signIn()).toMatchObject({ token: "a" });
  });
});

describe("fetchResourceMetadata", () => {
  const resource = "https://api.example/v1";
  const fetchAs = (document: unknown, asked: string = resource): Promise<unknown> =>
    fetchResourceMetadata(asked, { fetch: () => Response.json(document) });

  it.each([
    ["https://api.example", "https://api.example/.well-known/oauth-protected-resource"],
    [resource, "https://api.example/.well-known/oauth-protected-resource/v1"],
    [`${resource}?t=1`, "https://api.example/.well-known/oauth-protected-resource/v1?t=1"],
  ])("looks for %s at %s", async (asked, expected) => {
    const asks: string[] = [];
    await fetchResourceMetadata(asked, {
      fetch: ({ url }) => {
        asks.push(url);
        return Response.json({ resource: asked });
      },
    });
    expect(asks).toEqual([expected]);
  });

  it.each([
    ["another resource", { resource: "https://evil.example" }],
    ["a part of the resource", { resource: "https://api.example" }],
    ["no resource", {}],
    ["servers that are no list", { resource, authorization_servers: issuer }],
    ["a server over http", { resource, authorization_servers: ["http://op.example"] }],
    ["a server that is no URL", { resource, authorization_servers: ["op"] }],
    ["scopes that are no texts", { resource, scopes_supported: [1] }],
    ["a list", []],
  ])("refuses %s", async (_case, document) => {
    await expect(fetchAs(document)).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
  });

  it.each(["api", "https://api.example/#x"])("throws for the resource %s", async (wrong) => {
    await expect(fetchAs({}, wrong)).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("reads the document that a challenge names, which must be of the resource all the same", async () => {
    const field = 'Bearer resource_metadata="https://api.example/meta"';
    const url = resourceMetadataUrl(parseChallenges(field));
    const document = { resource, authorization_servers: [issuer] };
    const asks: string[] = [];
    const fetch = (request: Request): Response => {
      asks.push(request.url);
      return Response.json(document);
    };
    expect(await fetchResourceMetadata(resource, { url, fetch })).toEqual(document);
    expect(asks).toEqual(["https://api.example/meta"]);
    await expect(
      fetchResourceMetadata("https://other.example", { url, fetch }),
    ).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    expect(resourceMetadataUrl(parseChallenges("Bearer"))).toBeUndefined();
  });
});
