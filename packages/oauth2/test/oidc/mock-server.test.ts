import { Events, type MutableToken } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuthorizationResponseError } from "../../src/index.ts";
import { OidcClient } from "../../src/oidc/index.ts";
import { startMockServer, type MockServer } from "../mock-server.ts";
import { browse } from "../provider-server.ts";

const redirectUri = "https://app.example/callback";
let server: MockServer;
let client: OidcClient;
let now = 0;

beforeAll(async () => {
  server = await startMockServer("tenant");
  client = await OidcClient.discover(server.issuer.url ?? "", "app", "secret", {
    redirectUri,
    clock: () => now || Date.now(),
  });
});

afterAll(async () => server.close());

async function signIn(change?: (token: MutableToken) => void): ReturnType<OidcClient["getToken"]> {
  const { url, transaction } = await client.authCode.start();
  const callback = await browse(url, redirectUri);
  const onSigning = (token: MutableToken): void => change?.(token);
  server.service.on(Events.BeforeTokenSigning, onSigning);
  try {
    return await client.authCode.callback(callback, transaction);
  } finally {
    server.service.off(Events.BeforeTokenSigning, onSigning);
  }
}

describe("signing in, against oauth2-mock-server", () => {
  it("returns the claims of the ID token", async () => {
    const token = await signIn();
    expect(client.claims(token)).toMatchObject({ sub: "johndoe", iss: server.issuer.url });
    expect(await client.userInfo(token)).toMatchObject({ sub: "johndoe" });
  });

  it.each<readonly [string, string, (token: MutableToken) => void]>([
    ["another issuer", "iss", ({ payload }) => void (payload["iss"] = "https://evil.example")],
    ["another audience", "aud", ({ payload }) => void (payload["aud"] = "other")],
    ["another nonce", "nonce", ({ payload }) => void (payload["nonce"] = "other")],
    ["no nonce", "nonce", ({ payload }) => void delete payload["nonce"]],
    ["an end that has passed", "exp", ({ payload }) => void (payload["exp"] = 1)],
    ["no subject", "sub", ({ payload }) => void delete payload["sub"]],
    ["a beginning to come", "nbf", ({ payload }) => void (payload["nbf"] = 9_999_999_999)],
    ["an unknown key", "kid", ({ header }) => void (header.kid = "unknown")],
    ["a wrong at_hash", "at_hash", ({ payload }) => void (payload["at_hash"] = "x")],
  ])("refuses an ID token with %s", async (_case, claim, change) => {
    await expect(signIn(change)).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN_INVALID", claim });
  });

  it("follows the server when it rotates its keys", async () => {
    await signIn();
    const { keys } = server.issuer;
    await keys.generate("RS256");
    const newest = keys.toJSON().at(-1)?.kid ?? "";
    const useNewest = async (): ReturnType<OidcClient["getToken"]> => {
      const { url, transaction } = await client.authCode.start();
      const callback = await browse(url, redirectUri);
      const { service } = server;
      const answer = (response: { body: unknown }): void => void (response.body = replaced);
      const idToken = await server.issuer.buildToken({
        kid: newest,
        scopesOrTransform: (_header, payload) => {
          Object.assign(payload, { aud: "app", sub: "johndoe", nonce: transaction.nonce });
        },
      });
      const replaced = { access_token: "at", token_type: "Bearer", id_token: idToken };
      service.once(Events.BeforeResponse, answer);
      return client.authCode.callback(callback, transaction);
    };
    // Within the cooldown an unknown key is refused without a question.
    await expect(useNewest()).rejects.toMatchObject({ claim: "kid" });
    now = Date.now() + 31_000;
    expect(client.claims(await useNewest())).toMatchObject({ sub: "johndoe" });
    now = 0;
  });

  it("reports what the token endpoint refuses", async () => {
    const { url, transaction } = await client.authCode.start();
    const callback = await browse(url, redirectUri);
    server.service.once(Events.BeforeResponse, (response) => {
      response.body = { error: "invalid_grant", error_description: "spent" };
      response.statusCode = 400;
    });
    await expect(client.authCode.callback(callback, transaction)).rejects.toMatchObject({
      code: "invalid_grant",
      description: "spent",
    });
  });

  it.each([
    ["iss", "https://evil.example", "ERR_OAUTH_CALLBACK"],
    ["state", "other", "ERR_OAUTH_CALLBACK"],
    ["error", "access_denied", "access_denied"],
  ])("refuses a callback whose %s is %s", async (name, value, code) => {
    const { url, transaction } = await client.authCode.start();
    server.service.once(Events.BeforeAuthorizeRedirect, ({ url: target }) => {
      target.searchParams.set(name, value);
    });
    const callback = await browse(url, redirectUri);
    await expect(client.authCode.callback(callback, transaction)).rejects.toMatchObject({
      name: "AuthorizationResponseError",
      code,
    } satisfies Partial<AuthorizationResponseError>);
  });

  it("refreshes, introspects and revokes", async () => {
    const token = await signIn();
    const fresh = await token.refresh();
    expect(client.claims(fresh)).toMatchObject({ sub: "johndoe" });
    expect(await client.introspect(fresh)).toEqual({ active: true });
    expect((await fresh.revoke()).status).toBe(200);
    expect(client.endSessionUrl({ postLogoutRedirectUri: redirectUri })).toContain(
      "/tenant/endsession?",
    );
  });
});
