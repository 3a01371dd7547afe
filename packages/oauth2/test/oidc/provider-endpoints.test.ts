import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { discover, OidcClient, type OidcClientOptions } from "../../src/oidc/index.ts";
import { browse, startProvider, type ProviderServer } from "../provider-server.ts";

const redirectUri = "https://app.example/callback";
const resource = "https://api.example/v1";
const secret = "a client secret of thirty-two bytes or more";
let server: ProviderServer;

beforeAll(async () => {
  const redirect = { client_secret: secret, redirect_uris: [redirectUri] };
  server = await startProvider(() => ({
    clients: [
      {
        client_id: "signed",
        ...redirect,
        userinfo_signed_response_alg: "RS256",
        introspection_signed_response_alg: "RS256",
      },
      { client_id: "api", ...redirect, grant_types: ["client_credentials", "authorization_code"] },
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      jwtIntrospection: { enabled: true },
      jwtUserinfo: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        defaultResource: () => [],
        getResourceServerInfo: () => ({
          scope: "openid read",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 60,
        }),
      },
    },
  }));
});

afterAll(async () => server.close());

const client = (id: string, options: OidcClientOptions = {}): Promise<OidcClient> =>
  OidcClient.discover(server.issuer, id, secret, { redirectUri, ...options });

async function signIn(oidc: OidcClient, params = {}): ReturnType<OidcClient["getToken"]> {
  const { url, transaction } = await oidc.authCode.start(params);
  return oidc.authCode.callback(await browse(url, redirectUri), transaction);
}

describe("against oidc-provider", () => {
  it("verifies user information that is signed", async () => {
    const oidc = await client("signed");
    const info = await oidc.userInfo(await signIn(oidc));
    expect(info).toMatchObject({ sub: "user-1", iss: server.issuer, aud: "signed" });
  });

  it("refuses signed answers of algorithms that are not allowed", async () => {
    const { token } = await signIn(await client("signed"));
    const oidc = await client("signed", { idTokenAlgorithms: ["ES256"] });
    const refusal = { code: "ERR_OAUTH_TOKEN_INVALID", claim: "alg" };
    await expect(oidc.userInfo(token, { expectedSub: "user-1" })).rejects.toMatchObject(refusal);
  });

  it("asks for a plain introspection of a client that is registered for signed ones", async () => {
    const oidc = await client("signed", { idTokenAlgorithms: ["ES256"] });
    const token = await signIn(await client("signed"));
    expect(await oidc.introspect(token)).toMatchObject({ active: true });
  });

  it("asks for a token of one resource, in sign-in and exchange of the code", async () => {
    const oidc = await client("api");
    const token = await signIn(oidc, { scope: "openid read", resource });
    const [, payload = ""] = token.token.split(".");
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({
      aud: resource,
      sub: "user-1",
    });
    const direct = await oidc.clientCredentials.getToken({ resource, scope: "read" });
    expect(direct.scope).toBe("read");
  });

  it("uses the URL of the metadata as well as the issuer", async () => {
    const url = `${server.issuer}/.well-known/openid-configuration`;
    expect(await discover(url)).toEqual(await discover(server.issuer));
  });
});
