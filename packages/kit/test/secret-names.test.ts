import { describe, expect, it } from "vitest";
import { isSecretName, isSecretParameter } from "../src/index.ts";

describe("isSecretName()", () => {
  it.each([
    "Authorization",
    "refresh_token",
    "accessToken",
    "x-api-key",
    "sessionId",
    "user[password]",
    "PA\u017F\u017FWORD",
    "to\u212Aen",
    "client_assertion",
    "id_token_hint",
  ])("knows that %s is secret", (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(isSecretParameter(name)).toBe(true);
  });

  it.each([
    "token_type",
    "subject_token_type",
    "token_type_hint",
    "issuedTokenType",
    "token_endpoint",
    "authorization_endpoint",
    "token_endpoint_auth_methods_supported",
    "token_endpoint_auth_method",
    "id_token_signed_response_alg",
    "client_assertion_type",
    "client_secret_expires_at",
    "authorization_details",
    "tokens",
    "author",
    "scope",
  ])("knows that %s is not secret", (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(isSecretParameter(name)).toBe(false);
  });
});

describe("isSecretParameter()", () => {
  it.each(["code", "device_code", "user_code", "code_verifier", "a[code]"])(
    "knows that the one-time code %s is secret, which is none as a member of JSON",
    (name) => {
      expect(isSecretParameter(name)).toBe(true);
      expect(isSecretName(name)).toBe(false);
    },
  );
});
