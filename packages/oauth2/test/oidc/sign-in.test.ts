import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, type JWK } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  DPoP,
  OidcClient,
  TokenValidationError,
  type OidcClientOptions,
} from "../../src/oidc/index.ts";
import { browse, startProvider, type ProviderServer } from "../provider-server.ts";

const redirectUri = "https://app.example/callback";
let server: ProviderServer;
let clientJwk: JWK;
let clientKey: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256", { extractable: true });
  clientKey = pair.privateKey;
  clientJwk = { ...(await exportJWK(pair.publicKey)), alg: "ES256", use: "sig", kid: "c1" };
  const redirect = { redirect_uris: [redirectUri], scope: "openid profile email offline_access" };
  const grants = { grant_types: ["authorization_code", "refresh_token"] };
  const secret = { client_secret: "a secret / with: odd + signs % and thirty-two bytes" };
  server = await startProvider(() => ({
    pkce: { required: () => true },
    clients: [
      { client_id: "basic:id", ...secret, ...redirect, ...grants },
      {
        client_id: "post",
        ...secret,
        ...redirect,
        token_endpoint_auth_method: "client_secret_post",
      },
      {
        client_id: "sjwt",
        ...secret,
        ...redirect,
        token_endpoint_auth_method: "client_secret_jwt",
      },
      {
        client_id: "pjwt",
        ...redirect,
        token_endpoint_auth_method: "private_key_jwt",
        jwks: { keys: [clientJwk] },
        request_object_signing_alg: "ES256",
      },
      { client_id: "public", ...redirect, token_endpoint_auth_method: "none" },
      {
        client_id: "hs",
        ...secret,
        ...redirect,
        id_token_signed_response_alg: "HS256",
      },
      {
        client_id: "par",
        ...secret,
        ...redirect,
        require_pushed_authorization_requests: true,
      },
      { client_id: "bound", ...secret, ...redirect, ...grants, dpop_bound_access_tokens: true },
    ],
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "HS256"] },
    clientAuthMethods: [
      "client_secret_basic",
      "client_secret_jwt",
      "client_secret_post",
      "private_key_jwt",
      "none",
    ],
    issueRefreshToken: (_ctx, _client, code) => code.scopes.has("offline_access"),
    rotateRefreshToken: () => true,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
      introspection: { enabled: true },
      revocation: { enabled: true },
      userinfo: { enabled: true },
      jwtUserinfo: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
  }));
});

afterAll(async () => server.close());

const secret = "a secret / with: odd + signs % and thirty-two bytes";

const client = (
  id: string,
  clientSecret: string | null = secret,
  options: OidcClientOptions = {},
): Promise<OidcClient> =>
  OidcClient.discover(server.issuer, id, clientSecret, { redirectUri, ...options });

describe("authCode.start and authCode.callback, against oidc-provider", () => {
  it.each([
    ["client_secret_basic", "basic:id", {}],
    ["client_secret_post", "post", { authScheme: "request_body" }],
    ["client_secret_jwt", "sjwt", { authScheme: "client_secret_jwt" }],
  ] as const)("signs in with %s", async (_method, id, options) => {
    const oidc = await client(id, secret, options);
    const { url, transaction } = await oidc.authCode.start({ scope: "openid email" });
    const callback = await browse(url, redirectUri);
    const kept = JSON.parse(JSON.stringify(transaction));
    const token = await oidc.authCode.callback(callback, kept);
    expect(oidc.claims(token)).toMatchObject({ iss: server.issuer, sub: "user-1", aud: id });
    expect(await oidc.userInfo(token)).toMatchObject({ sub: "user-1", email: "ada@example.com" });
  });

  it("signs in with private_key_jwt", async () => {
    const oidc = await client("pjwt", null, { clientKey: { key: clientKey, kid: "c1" } });
    const { url, transaction } = await oidc.authCode.start();
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    expect(oidc.claims(token)).toMatchObject({ sub: "user-1" });
  });

  it("signs in as a public client", async () => {
    const oidc = await client("public", null);
    const { url, transaction } = await oidc.authCode.start();
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    expect(oidc.claims(token)).toMatchObject({ sub: "user-1" });
  });

  it("signs in with an ID token of HS256 where that is named, and not otherwise", async () => {
    const signIn = async (options: OidcClientOptions): Promise<string> => {
      const oidc = await client("hs", secret, options);
      const { url, transaction } = await oidc.authCode.start();
      const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
      return oidc.claims(token)?.sub ?? "";
    };
    expect(await signIn({ idTokenAlgorithms: ["HS256"] })).toBe("user-1");
    await expect(signIn({})).rejects.toThrow(TokenValidationError);
  });

  it("pushes the request where it is told to, and the URL shows nothing of it", async () => {
    const oidc = await client("par", secret, { pushAuthorization: true });
    const { url, transaction } = await oidc.authCode.start({ scope: "openid email" });
    const names = [...new URL(url).searchParams.keys()];
    expect(names.toSorted()).toEqual(["client_id", "request_uri"]);
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    expect(oidc.claims(token)).toMatchObject({ sub: "user-1" });
  });

  it("binds tokens to a key, and answers each demand for a nonce", async () => {
    const dpop = await DPoP.generate();
    const oidc = await client("bound", secret, { dpop });
    const { url, transaction } = await oidc.authCode.start({
      scope: "openid offline_access",
      prompt: "consent",
    });
    expect(new URL(url).searchParams.get("dpop_jkt")).toBe(dpop.thumbprint);
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    expect(token.tokenType).toBe("DPoP");
    expect(await oidc.userInfo(token)).toMatchObject({ sub: "user-1" });
    const introspection = await oidc.introspect(token);
    expect(introspection).toMatchObject({ active: true, cnf: { jkt: dpop.thumbprint } });
    const other = await client("bound", secret, { dpop: await DPoP.generate() });
    await expect(other.userInfo(token, { expectedSub: "user-1" })).rejects.toMatchObject({
      name: "ChallengeError",
      code: "invalid_token",
    });
    const fresh = await token.refresh();
    expect(fresh.token).not.toBe(token.token);
  });

  it("refreshes with rotation, validates the new ID token, and meets reuse detection", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start({
      scope: "openid offline_access",
      prompt: "consent",
    });
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    const fresh = await token.refresh();
    expect(fresh.refreshToken).not.toBe(token.refreshToken);
    expect(oidc.claims(fresh)).toMatchObject({ sub: "user-1" });
    await expect(token.refresh()).rejects.toMatchObject({ code: "invalid_grant" });
    await expect(fresh.refresh()).rejects.toMatchObject({ code: "invalid_grant" });
  });

  it("introspects and revokes", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start();
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    expect(await oidc.introspect(token)).toMatchObject({ active: true, client_id: "basic:id" });
    await token.revoke();
    expect(await oidc.introspect(token, { tokenTypeHint: "access_token" })).toEqual({
      active: false,
    });
    await expect(oidc.userInfo(token)).rejects.toMatchObject({
      code: "invalid_token",
      status: 401,
    });
  });

  it("refuses the code of another sign-in: the verifier does not fit", async () => {
    const oidc = await client("basic:id");
    const [mine, other] = [await oidc.authCode.start(), await oidc.authCode.start()];
    const callback = await browse(other.url, redirectUri);
    callback.searchParams.set("state", mine.transaction.state);
    await expect(oidc.authCode.callback(callback, mine.transaction)).rejects.toMatchObject({
      code: "invalid_grant",
    });
  });

  it("refuses an ID token with the nonce of another sign-in", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start();
    const callback = await browse(url, redirectUri);
    const wrong = { ...transaction, nonce: "another nonce" };
    await expect(oidc.authCode.callback(callback, wrong)).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN_INVALID",
      claim: "nonce",
    });
  });

  it("reports what the server refuses, by its code", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start({ prompt: "none" });
    const callback = await browse(url, redirectUri);
    await expect(oidc.authCode.callback(callback, transaction)).rejects.toMatchObject({
      name: "AuthorizationResponseError",
      code: "login_required",
    });
  });

  it("makes the logout URL that the provider takes", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start();
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    const logout = oidc.endSessionUrl({ idTokenHint: token.idToken, state: "s" });
    const response = await fetch(logout);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("/session/end/confirm");
  });

  it("issues ID tokens that jose accepts", async () => {
    const oidc = await client("basic:id");
    const { url, transaction } = await oidc.authCode.start();
    const token = await oidc.authCode.callback(await browse(url, redirectUri), transaction);
    const keys = createRemoteJWKSet(new URL(oidc.metadata.jwks_uri ?? ""));
    const { payload } = await jwtVerify(token.idToken ?? "", keys, {
      issuer: server.issuer,
      audience: "basic:id",
    });
    expect(payload).toEqual(oidc.claims(token));
  });
});
