import { describe, expect, it } from "vitest";
import { isSecretName, isSecretParameter } from "../../src/secrets/secret-names.ts";

describe("isSecretName", () => {
  it.each([
    "password",
    "Passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "client_secret",
    "credentials",
    "token",
    "access_token",
    "refreshToken",
    "id_token",
    "x-api-key",
    "apikey",
    "api_key",
    "privateKey",
    "AWS_ACCESS_KEY_ID",
    "signature",
    "x-hub-signature-256",
    "sig",
    "assertion",
    "client_assertion",
    "session",
    "sessionId",
    "cookie",
    "Set-Cookie",
    "authorization",
    "Proxy-Authorization",
    "auth",
    "x-auth",
    "otp",
    "pin",
    "jwt",
    "user[password]",
    "user.token",
    "paſſword",
    "to\u212Aen",
    "Ocp-Apim-Subscription-Key",
    "x-functions-key",
    "x-amzn-oidc-data",
    "x-user-pass",
    "account[master_key]",
    "incoming_webhook",
    "incomingWebhook",
    "incoming_webhook[url]",
    "incoming_webhook.url",
    "incoming-webhook-url",
  ])("recognises %s", (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(isSecretParameter(name)).toBe(true);
  });

  it.each([
    "author",
    "token_type",
    "subject_token_type",
    "token_type_hint",
    "issuedTokenType",
    "token_endpoint",
    "token_endpoint_auth_methods_supported",
    "id_token_signed_response_alg",
    "client_assertion_type",
    "client_secret_expires_at",
    "authorization_details",
    "code",
    "state",
    "status",
    "name",
    "pinned",
    "max_tokens",
    "design",
    "ipin",
    "public_key",
    "Idempotency-Key",
    "idempotency_key",
    "x-idempotency-key",
    "Sec-WebSocket-Key",
    "Surrogate-Key",
    "cache-key",
    "sort_key",
    "partition_key",
    "key",
    "keys",
    "monkey",
    "bypass",
    "webhook",
    "incoming_webhook_enabled",
    "",
  ])("does not recognise %s", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("isSecretParameter", () => {
  it.each([
    "code",
    "CODE",
    "device_code",
    "user_code",
    "code_verifier",
    "a[code]",
    "code[]",
    "key",
    "Key",
  ])("recognises %s", (name) => {
    expect(isSecretParameter(name)).toBe(true);
  });

  it.each([
    "state",
    "postcode",
    "country_code",
    "error_code",
    "codes",
    "author",
    "q",
    "keyword",
    "keys",
  ])("does not recognise %s", (name) => {
    expect(isSecretParameter(name)).toBe(false);
  });
});
