import { generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { OidcClient } from "../../src/oidc/index.ts";
import { verifyLogoutToken } from "../../src/oidc/logout/index.ts";
import type { VerifyLogoutTokenOptions } from "../../src/oidc/logout/verify-logout-token.ts";

const issuer = "https://op.example";
const event = "http://schemas.openid.net/event/backchannel-logout";
const now = 1_800_000_000;
const base = {
  iss: issuer,
  aud: "app",
  iat: now,
  exp: now + 120,
  jti: "j-1",
  sub: "user",
  sid: "session",
  events: { [event]: {} },
};
let privateKey: CryptoKey;
let options: VerifyLogoutTokenOptions;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  ({ privateKey } = pair);
  options = { issuer, clientId: "app", key: pair.publicKey, algorithms: ["ES256"], now };
});

const sign = (claims: object = {}, typ: string | undefined = "logout+jwt"): Promise<string> =>
  new SignJWT(JSON.parse(JSON.stringify({ ...base, ...claims })))
    .setProtectedHeader({ alg: "ES256", ...(typ !== undefined && { typ }) })
    .sign(privateKey);

describe("verifyLogoutToken", () => {
  it.each([
    ["another issuer", "iss", { iss: "https://evil.example" }],
    ["another audience", "aud", { aud: "other" }],
    ["no audience", "aud", { aud: undefined }],
    ["no exp", "exp", { exp: undefined }],
    ["an exp that has passed", "exp", { exp: now - 31 }],
    ["no iat", "iat", { iat: undefined }],
    ["an iat to come", "iat", { iat: now + 31 }],
    ["an iat long ago", "iat", { iat: now - 331 }],
    ["an nbf to come", "nbf", { nbf: now + 31 }],
    ["no jti", "jti", { jti: undefined }],
    ["no events", "events", { events: undefined }],
    ["events that are a list", "events", { events: [event] }],
    ["another event", "events", { events: { "http://e.org/x": {} } }],
    ["an event that is not an object", "events", { events: { [event]: true } }],
    ["a nonce: it is an ID token", "nonce", { nonce: "n" }],
    ["neither sub nor sid", "sub", { sub: undefined, sid: undefined }],
    ["a sub that is a number", "sub", { sub: 1 }],
    ["an empty sid", "sid", { sid: "" }],
  ])("refuses %s, and names %s", async (_case, claim, claims) => {
    await expect(verifyLogoutToken(await sign(claims), options)).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN_INVALID",
      claim,
    });
  });

  it.each(["at+jwt", "dpop+jwt", "secevent+jwt"])("refuses a token of type %s", async (typ) => {
    await expect(verifyLogoutToken(await sign({}, typ), options)).rejects.toMatchObject({
      claim: "typ",
    });
  });

  it.each(["logout+jwt", "application/logout+jwt", "Logout+JWT", "JWT", undefined])(
    "takes the type %s",
    async (typ) => {
      expect(await verifyLogoutToken(await sign({}, typ), options)).toEqual(base);
    },
  );

  it.each([{ sub: undefined }, { sid: undefined }, { aud: ["app", "other"] }])(
    "takes one with %o",
    async (claims) => {
      const received = await verifyLogoutToken(await sign(claims), options);
      expect(received).toMatchObject({ jti: "j-1" });
    },
  );

  it("refuses the signature of another key, and another algorithm", async () => {
    const other = await generateKeyPair("ES256");
    const jwt = await sign();
    await expect(
      verifyLogoutToken(jwt, { ...options, key: other.publicKey }),
    ).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN_INVALID" });
    await expect(
      verifyLogoutToken(jwt, { ...options, algorithms: undefined }),
    ).rejects.toMatchObject({ claim: "alg" });
  });

  it("refuses a token that was used before, when somebody remembers", async () => {
    const seen = new Map<string, number>();
    const rememberOnce = (jti: string, expiresAt: number): boolean => {
      const isNew = !seen.has(jti);
      seen.set(jti, expiresAt);
      return isNew;
    };
    const jwt = await sign();
    await verifyLogoutToken(jwt, { ...options, rememberOnce });
    expect([...seen]).toEqual([["j-1", base.exp + 30]]);
    await expect(verifyLogoutToken(jwt, { ...options, rememberOnce })).rejects.toMatchObject({
      claim: "jti",
    });
  });

  it("remembers nothing of a token that is refused", async () => {
    const rememberOnce = (): never => {
      throw new Error("asked");
    };
    const jwt = await sign({ aud: "other" });
    await expect(verifyLogoutToken(jwt, { ...options, rememberOnce })).rejects.toMatchObject({
      claim: "aud",
    });
  });

  it.each([{ clockTolerance: -1 }, { algorithms: [] }])("throws for %o", async (wrong) => {
    await expect(verifyLogoutToken(await sign(), { ...options, ...wrong })).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
    });
  });

  it("is a method of the client, with its secret for HS256 where that is named", async () => {
    const secret = "a client secret of thirty-two bytes or more";
    const client = new OidcClient({ issuer }, "app", secret, {
      idTokenAlgorithms: ["HS256"],
      clock: () => now * 1000,
    });
    const jwt = await new SignJWT(base)
      .setProtectedHeader({ alg: "HS256", typ: "logout+jwt" })
      .sign(new TextEncoder().encode(secret));
    expect(await client.verifyLogoutToken(jwt)).toMatchObject({ sid: "session" });
  });
});
