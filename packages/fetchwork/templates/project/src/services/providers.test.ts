// #if oidc
import { describe, expect, it } from "vitest";
import { readConfig } from "../config.ts";

describe("the settings of providers", () => {
  const secrets = { MASTER_KEY: "m".repeat(32), JWT_SECRET: "j".repeat(32) };
  const google = { OIDC_GOOGLE_ISSUER: "https://accounts.google.com", OIDC_GOOGLE_CLIENT_ID: "id" };

  it("are read by their names", () => {
    const { providers } = readConfig({
      ...secrets,
      ...google,
      OIDC_GOOGLE_CLIENT_SECRET: "s",
      OIDC_MY_IDP_ISSUER: "https://id.example/x",
      OIDC_MY_IDP_CLIENT_ID: "me",
      OIDC_MY_IDP_AUDIENCE: "urn:api",
      OIDC_MY_IDP_KEEP_TOKENS: "yes",
      OIDC_EMPTY_ISSUER: "",
      PUBLIC_URL: "https://api.example/",
    });
    expect(providers).toEqual([
      {
        name: "google",
        issuer: "https://accounts.google.com",
        clientId: "id",
        clientSecret: "s",
        audience: "https://api.example",
        keepsTokens: false,
      },
      {
        name: "my-idp",
        issuer: "https://id.example/x",
        clientId: "me",
        clientSecret: undefined,
        audience: "urn:api",
        keepsTokens: true,
      },
    ]);
    expect(readConfig(secrets).providers).toEqual([]);
  });

  it.each([
    [{ OIDC_GOOGLE_ISSUER: "https://a.example" }, "OIDC_GOOGLE_CLIENT_ID is not set"],
    [
      { ...google, OIDC_GOOGLE_ISSUER: "http://a.example" },
      "OIDC_GOOGLE_ISSUER must be an https URL",
    ],
    [{ ...google, OIDC_GOOGLE_ISSUER: "google" }, "OIDC_GOOGLE_ISSUER must be an https URL"],
    [{ ...google, OIDC_GOOGLE_KEEP_TOKENS: "1" }, 'OIDC_GOOGLE_KEEP_TOKENS is "1"'],
    [{ ...google, OIDC_GOOGLE_AUDIENCE: "id" }, "OIDC_GOOGLE_AUDIENCE is the client id"],
    [
      { ...google, OIDC_B_ISSUER: google.OIDC_GOOGLE_ISSUER, OIDC_B_CLIENT_ID: "b" },
      "two providers have one issuer",
    ],
    [{ ...google, PUBLIC_URL: "https://api.example/path" }, "PUBLIC_URL is"],
    [{ ...google, PUBLIC_URL: "api.example" }, "PUBLIC_URL is"],
    [{ ...google, NODE_ENV: "production" }, "PUBLIC_URL is not set"],
  ])("are refused: %j", (environment, message) => {
    expect(() => readConfig({ ...secrets, ...environment })).toThrow(message);
  });
});
// #endif
