import { describe, expect, it } from "vitest";
import { defineConfig, defineService, serverSettings, StartError } from "../../src/index.ts";
import { readStartSettings } from "../../src/settings/start-settings.ts";
import { testService } from "../../src/testing/test-service.ts";
import { app, secrets } from "../notes-service.ts";

const google = { OIDC_GOOGLE_ISSUER: "https://accounts.google.com", OIDC_GOOGLE_CLIENT_ID: "id" };

describe("the settings of providers", () => {
  it("are read by their names", () => {
    const environment = {
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
    };
    expect(readStartSettings(app, environment, "/").providers).toEqual([
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
    expect(readStartSettings(app, secrets, "/").providers).toEqual([]);
  });

  it("are refused in one line by a service without accounts", () => {
    const plain = defineService({ name: "plain", config: defineConfig({ ...serverSettings }) });
    const message =
      "OIDC_GOOGLE_CLIENT_ID is set, but the service has no accounts: remove it, or set accounts of defineService";
    expect(() => readStartSettings(plain, { ...secrets, ...google }, "/")).toThrow(
      new StartError(message),
    );
    expect(readStartSettings(plain, secrets, "/").providers).toEqual([]);
  });

  it("are offered at their paths, and nothing is without them", async () => {
    const offered = await testService(app, { settings: { OIDC_GITHUB_CLIENT_ID: "gh" } });
    expect((await offered.fetch("/auth/github")).status).toBe(302);
    const bare = await testService(app);
    expect((await bare.fetch("/auth/github")).status).toBe(404);
  });

  it.each([
    [{ OIDC_GOOGLE_ISSUER: "https://a.example" }, "OIDC_GOOGLE_CLIENT_ID is not set"],
    [
      { ...google, OIDC_GOOGLE_ISSUER: "http://a.example" },
      "OIDC_GOOGLE_ISSUER must be an https URL",
    ],
    [{ ...google, OIDC_GOOGLE_ISSUER: "google" }, "OIDC_GOOGLE_ISSUER must be an https URL"],
    [
      { ...google, OIDC_GOOGLE_KEEP_TOKENS: "1" },
      'OIDC_GOOGLE_KEEP_TOKENS must be yes or no, got "1"',
    ],
    [{ OIDC_CONSTRUCTOR_CLIENT_ID: "id" }, "OIDC_CONSTRUCTOR_ISSUER is not set"],
    [{ ...google, PUBLIC_URL: "https://api.example/path" }, "PUBLIC_URL must be an origin"],
    [{ ...google, PUBLIC_URL: "api.example" }, "PUBLIC_URL must be an origin"],
    [{ ...google, NODE_ENV: "production" }, "PUBLIC_URL is not set"],
  ])("are refused: %j", (environment, message) => {
    expect(() => readStartSettings(app, { ...secrets, ...environment }, "/")).toThrow(message);
  });
});
