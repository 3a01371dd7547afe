import { openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../app.ts";
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
      OIDC_GITHUB_CLIENT_ID: "gh",
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
      {
        name: "github",
        issuer: undefined,
        clientId: "gh",
        clientSecret: undefined,
        audience: "https://api.example",
        keepsTokens: false,
      },
    ]);
    expect(readConfig(secrets).providers).toEqual([]);
  });

  it("are offered at their paths, and nothing is without them", async () => {
    const store = await openStore("sqlite::memory:");
    onTestFinished(() => store.close());
    const environment = { ...secrets, OIDC_GITHUB_CLIENT_ID: "gh" };
    for (const [given, status] of [
      [environment, 302],
      [secrets, 404],
    ] as const) {
      const { handler } = createApp({ ...readConfig(given), log: "off" }, store);
      const request = new Request("http://localhost:9000/auth/github");
      const response = await handler(request, createContext(request));
      expect(response.status).toBe(status);
    }
  });

  it.each([
    [{ OIDC_GOOGLE_ISSUER: "https://a.example" }, "OIDC_GOOGLE_CLIENT_ID is not set"],
    [
      { ...google, OIDC_GOOGLE_ISSUER: "http://a.example" },
      "OIDC_GOOGLE_ISSUER must be an https URL",
    ],
    [{ ...google, OIDC_GOOGLE_ISSUER: "google" }, "OIDC_GOOGLE_ISSUER must be an https URL"],
    [{ ...google, OIDC_GOOGLE_KEEP_TOKENS: "1" }, 'OIDC_GOOGLE_KEEP_TOKENS is "1"'],
    [{ OIDC_CONSTRUCTOR_CLIENT_ID: "id" }, "OIDC_CONSTRUCTOR_ISSUER is not set"],
    [{ ...google, PUBLIC_URL: "https://api.example/path" }, "PUBLIC_URL is"],
    [{ ...google, PUBLIC_URL: "api.example" }, "PUBLIC_URL is"],
    [{ ...google, NODE_ENV: "production" }, "PUBLIC_URL is not set"],
  ])("are refused: %j", (environment, message) => {
    expect(() => readConfig({ ...secrets, ...environment })).toThrow(message);
  });
});
