import { decodeJwt, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { signRequestObject } from "../../src/oidc/index.ts";
import { connect, issuer, now, privateKey, publicKey } from "../scripted-provider.ts";

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
