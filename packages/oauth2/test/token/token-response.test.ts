import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessToken, OAuth2Client } from "../../src/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const clientOf = (): OAuth2Client => new OAuth2Client("id", "secret", { site: server.origin });

describe("token responses", () => {
  it.each([
    ["a form as text/plain", "text/plain", "access_token=A&expires_in=60&scope=a%20b"],
    ["a form as text/plain with a charset", "text/plain; charset=utf-8", "access_token=A&x=\n"],
    ["JSON without a type", "", '{"access_token":"A"}'],
  ])("are read from %s", async (_name, type, body) => {
    server.script = [{ status: 200, headers: { "content-type": type }, body }];
    const token = await clientOf().clientCredentials.getToken();
    expect(token.token).toBe("A");
  });

  it.each([
    ["text/plain", '{"access_token":"A"}'],
    ["text/plain", "see access_token=A there"],
    ["text/html", "access_token=A"],
    ["text/html", '{"access_token":"A"}'],
    ["", "access_token=A"],
    ["", "[1]"],
  ])("are not read from %s %j", async (type, body) => {
    server.script = [{ status: 200, headers: { "content-type": type }, body }];
    await expect(clientOf().clientCredentials.getToken()).rejects.toThrow(
      "the response of the token endpoint is not a JSON object or form (HTTP 200)",
    );
  });

  it("that are errors are read from a form as text/plain", async () => {
    const headers = { "content-type": "text/plain" };
    server.script = [{ status: 400, headers, body: "error=invalid_grant&error_description=no" }];
    await expect(clientOf().clientCredentials.getToken()).rejects.toMatchObject({
      code: "invalid_grant",
      description: "no",
    });
  });

  it("are read by the parser that the caller chooses, whatever the type", async () => {
    const headers = { "content-type": "text/plain" };
    server.script = [{ status: 200, headers, body: '{"access_token":"A"}' }];
    const token = await clientOf().clientCredentials.getToken({ parse: "json" });
    expect(token.token).toBe("A");
  });

  it.each(["lollipop", "id_token", "idToken"])(
    "are restored from their hashes when the token was in the field %s",
    (tokenName) => {
      const client = clientOf();
      const hash = { [tokenName]: "T", scope: "s" };
      const token = AccessToken.fromHash(client, hash, { tokenName });
      const restored = AccessToken.fromHash(client, token.toHash());
      expect(restored).toMatchObject({ token: "T", scope: "s", options: { tokenName } });
      expect(restored.toHash()).toEqual(token.toHash());
    },
  );

  it("have hashes that a store may clone, with nested values", async () => {
    const team = { id: "T1", authedUser: { id: "U1" } };
    server.script = [json({ access_token: "A", team, authorization_details: [{ type: "x" }] })];
    const hash = (await clientOf().clientCredentials.getToken()).toHash();
    expect(structuredClone(hash)).toStrictEqual(hash);
    expect(hash).toMatchObject({ team: { id: "T1", authed_user: { id: "U1" } } });
  });
});
