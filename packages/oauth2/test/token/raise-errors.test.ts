import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  OAuth2Client,
  OAuth2Error,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const clientOf = (options: OAuth2ClientOptions = {}): OAuth2Client =>
  new OAuth2Client("id", "secret", { site: server.origin, ...options });

describe("tokens", () => {
  it("have the error and no value where no errors are raised", async () => {
    server.script = [json({ error: "invalid_grant" }, 400)];
    for (const token of [
      await clientOf({ raiseErrors: false }).authCode.getToken("c"),
      await clientOf().authCode.getToken("c", { raiseErrors: false }),
    ]) {
      expect(token.token).toBe("");
      expect(token.error).toMatchObject({ code: "invalid_grant" });
      expect(token.expired()).toBe(true);
      expect(token.response?.error).toBeInstanceOf(OAuth2Error);
      await expect(token.get("/r")).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    }
    server.script = [json({ nothing: 1 })];
    const token = await clientOf({ raiseErrors: false }).clientCredentials.getToken();
    expect(token.error).toMatchObject({ code: "ERR_OAUTH_RESPONSE" });
  });

  it("have the error, the other fields and no value where a hash or form has none, and no errors are raised", () => {
    const client = clientOf({ raiseErrors: false });
    const missing = { code: "ERR_OAUTH_RESPONSE" };
    const tokens = [
      [AccessToken.fromHash(client, { scope: "read" }), missing],
      [AccessToken.fromKvform(client, "state=x"), missing],
      [AccessToken.fromKvform(client, "error=access_denied"), { code: "access_denied" }],
    ] as const;
    for (const [token, error] of tokens) {
      expect(token.error).toMatchObject(error);
      expect([token.token, token.expired()]).toEqual(["", true]);
    }
    const [fromHash, fromForm] = tokens.map(([token]) => token);
    expect(fromHash?.params).toEqual({ scope: "read" });
    expect(fromHash?.toHash()).toMatchObject({ access_token: "", scope: "read" });
    expect(fromForm?.params).toEqual({ state: "x" });
    expect(() => AccessToken.fromHash(clientOf(), { scope: "read" })).toThrow(
      expect.objectContaining(missing),
    );
  });

  it.each(["", null])("without a value (%j) need a refresh token, or no raised errors", (value) => {
    expect(() => new AccessToken(clientOf(), value)).toThrow(
      expect.objectContaining({ code: "ERR_OAUTH_RESPONSE" }),
    );
    const token = new AccessToken(clientOf(), value, { refresh_token: "R" });
    expect([token.token, token.refreshToken]).toEqual(["", "R"]);
    expect(new AccessToken(clientOf({ raiseErrors: false }), value).token).toBe("");
  });

  it("have nothing of a hash or form whose values no token has, where no errors are raised", () => {
    const client = clientOf({ raiseErrors: false });
    for (const token of [
      AccessToken.fromHash(client, { access_token: {}, scope: "read" }),
      AccessToken.fromHash(client, { refresh_token: "R\n", scope: "read" }),
      AccessToken.fromHash(client, { expires_in: [], scope: "read" }),
      AccessToken.fromKvform(client, "refresh_token=%0A&scope=read"),
    ]) {
      expect(token.error).toMatchObject({ code: "ERR_OAUTH_RESPONSE" });
      expect([token.token, token.refreshToken, token.params]).toEqual(["", undefined, {}]);
    }
  });

  it("have an error code that is a number as text, whatever the status", async () => {
    for (const status of [200, 400]) {
      server.script = [json({ error: 5 }, status)];
      await expect(clientOf().clientCredentials.getToken()).rejects.toMatchObject({ code: "5" });
    }
  });
});
