import { describe, expect, it } from "vitest";
import { AccessToken, type TokenHash } from "../../src/index.ts";
import { DPoP } from "../../src/oidc/index.ts";
import { away, connect, html, idToken, jwtAnswer, sign } from "../scripted-provider.ts";

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

  it("returns claims as JSON or JWT, with the token in the header only", async () => {
    const claims = { sub: "user", email: "a@b.c" };
    const { client, sent } = connect({ "/me": () => Response.json(claims) });
    expect(await client.userInfo("t", { expectedSub: "user" })).toEqual(claims);
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer t");
    const signed = connect({ "/me": async () => jwtAnswer("application/jwt", await sign(claims)) });
    expect(await signed.client.userInfo("t", { expectedSub: false })).toEqual(claims);
  });

  describe("of a token that was stored and restored", () => {
    const stored = async (sub: string): Promise<TokenHash> => {
      const { client } = connect({
        "/token": async () =>
          Response.json({
            access_token: "A",
            refresh_token: "R",
            id_token: await idToken({ sub }),
          }),
      });
      return (await client.getToken({ grant_type: "custom" })).toHash();
    };
    const refreshed = (): Response => Response.json({ access_token: "A2", refresh_token: "R2" });

    it("compares the subject with that of the stored ID token, also after a refresh", async () => {
      const me = (): Response => Response.json({ sub: "user" });
      const { client } = connect({ "/me": me, "/token": refreshed });
      const restored = AccessToken.fromHash(client, await stored("user"));
      expect(await client.userInfo(restored)).toMatchObject({ sub: "user" });
      const fresh = await restored.refresh();
      expect(await client.userInfo(fresh)).toMatchObject({ sub: "user" });
      const again = AccessToken.fromHash(client, JSON.parse(JSON.stringify(fresh.toHash())));
      expect(await client.userInfo(again)).toMatchObject({ sub: "user" });
      const other = AccessToken.fromHash(client, await stored("other"));
      await expect(client.userInfo(other)).rejects.toMatchObject({
        code: "ERR_OAUTH_TOKEN_INVALID",
      });
    });

    it("believes no ID token of a callback, and none that is missing or malformed", async () => {
      const { client } = connect({ "/me": () => Response.json({ sub: "user" }) });
      const forged = await idToken({ sub: "user" });
      const tokens = [
        AccessToken.fromKvform(client, `access_token=A&id_token=${forged}`),
        AccessToken.fromHash(client, { access_token: "A" }),
        AccessToken.fromHash(client, { access_token: "A", id_token: "x.y.z" }),
      ];
      for (const token of tokens) {
        await expect(client.userInfo(token)).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
      }
    });
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

  it("returns the challenges of a resource that refuses the token", async () => {
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
  it.each<readonly [string, string, () => Response | Promise<Response>]>([
    ["HTML", "ERR_OAUTH_RESPONSE", html],
    ["a JWT", "ERR_OAUTH_RESPONSE", () => jwtAnswer("application/token-introspection+jwt", "x")],
    ["nothing about active", "ERR_OAUTH_RESPONSE", () => Response.json({ scope: "x" })],
    ["an active that is text", "ERR_OAUTH_RESPONSE", () => Response.json({ active: "true" })],
    [
      "an error with status 200",
      "invalid_request",
      () => Response.json({ error: "invalid_request" }),
    ],
    ["a redirect", "ERR_OAUTH_REDIRECT", away],
  ])("refuses %s", async (_case, code, respond) => {
    const { client } = connect({ "/introspect": respond });
    await expect(client.introspect("secret-token")).rejects.toMatchObject({ code });
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
