import { decodeJwt } from "jose";
import { Events } from "oauth2-mock-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccessToken, OAuth2Client } from "../../src/index.ts";
import { discover, OidcClient, type ServerMetadata } from "../../src/oidc/index.ts";
import { startMockServer, type MockServer } from "../mock-server.ts";

// The end-to-end check of the specification: with E2E_ISSUER_BASE against that provider, else
// against our own.
const realm = process.env["E2E_REALM"] ?? "default";
const seconds = Number(process.env["E2E_WAIT_TIMEOUT"] ?? "15");
let base = process.env["E2E_ISSUER_BASE"];
let own: MockServer | undefined;
let metadata: ServerMetadata;

beforeAll(
  async () => {
    if (base === undefined || base === "") {
      own = await startMockServer(realm);
      ({ base } = own);
      own.service.on(Events.BeforeTokenSigning, ({ payload }) => {
        Object.assign(payload, { sub: "demo-client", aud: [realm], jti: crypto.randomUUID() });
      });
      own.service.on(Events.BeforeUserinfo, (response, { headers }) => {
        response.body = decodeJwt(headers.authorization?.replace("Bearer ", "") ?? "");
      });
    }
    metadata = await waitForProvider(`${base.replace(/\/$/, "")}/${realm}`);
  },
  (seconds + 5) * 1000,
);

afterAll(async () => own?.close());

/** Asks for the discovery document until it is there. */
async function waitForProvider(issuer: string): Promise<ServerMetadata> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await discover(issuer, { allowInsecure: true, timeout: 2000 });
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

describe("a token of a provider", () => {
  it("is got with the discovery document, kept, restored, and taken to the userinfo endpoint", async () => {
    const { token_endpoint: tokenUrl = "", userinfo_endpoint: userinfo = "" } = metadata;
    const client = new OAuth2Client("demo-client", "demo-secret", { site: base, tokenUrl });
    const token = await client.clientCredentials.getToken({ scope: "openid" });
    expect(token.token).not.toBe("");
    expect(token.expires()).toBe(true);
    expect(token.expired()).toBe(false);

    const stored = JSON.parse(JSON.stringify(token.toHash()));
    const restored = AccessToken.fromHash(client, stored);
    expect(restored.token).toBe(token.token);

    const response = await restored.get(userinfo, { headers: { accept: "application/json" } });
    expect(response.status).toBe(200);
    const claims = Object.fromEntries(Object.entries(Object(response.parsed)));
    expect(claims).toMatchObject({
      sub: expect.any(String),
      aud: expect.any(Array),
      nbf: expect.any(Number),
      iss: metadata.issuer,
      exp: expect.any(Number),
      iat: expect.any(Number),
      jti: expect.any(String),
    });
  });

  it("is got by a client that knows OpenID Connect, which reads the same claims", async () => {
    const client = new OidcClient(metadata, "demo-client", "demo-secret", {
      allowInsecure: true,
      authScheme: "basic_auth",
    });
    const token = await client.clientCredentials.getToken({ scope: "openid" });
    const claims = await client.userInfo(token, { expectedSub: false });
    expect(claims.sub).toBeTypeOf("string");
    expect(claims["iss"]).toBe(metadata.issuer);
  });
});
