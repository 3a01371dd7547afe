import { AccessToken, OAuth2Client } from "@fetchwork/oauth2";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  json,
  startScriptedServer,
  type ScriptedServer,
} from "../../packages/oauth2/test/scripted-server.ts";
import { importBlock } from "./page-block.ts";
// The requests of simple-oauth2 5.1.0 and of the gem 2.0.25, as a server saw them.
import record from "./records/oauth2-clients.json" with { type: "json" };

interface SentRequest {
  readonly target: string;
  readonly authorization: string;
  readonly body: string;
}

let server: ScriptedServer;

beforeEach(async () => {
  const token = { access_token: "at", refresh_token: "rt", token_type: "bearer", expires_in: 3600 };
  server = await startScriptedServer("BASE", [], json(token));
});

afterEach(() => server[Symbol.asyncDispose]());

/** The last request, with its form in the order of its names. */
function lastRequest(): object {
  const { target = "", headers = {}, body = "" } = server.seen.at(-1) ?? {};
  return comparable({ target, authorization: headers["authorization"] ?? "", body });
}

function comparable({ target, authorization, body }: SentRequest): object {
  return { target, authorization, form: pairsOf(new URLSearchParams(body)) };
}

/** Names and values, in the order of the names. */
function pairsOf(parameters: URLSearchParams): readonly (readonly [string, string])[] {
  return [...parameters].toSorted(([a], [b]) => a.localeCompare(b));
}

describe("a client that was one of simple-oauth2", () => {
  const { authorizeUrl, requests, stored } = record.simpleOAuth2;
  const redirect_uri = "https://app.example.com/callback";
  const scope = ["read", "write"];
  const newClient = () => new OAuth2Client("my id", "a:secret", { site: server.origin });

  it("sends the user to the same URL", () => {
    const here = new URL(newClient().authCode.authorizeUrl({ redirect_uri, scope, state: "s" }));
    const there = new URL(authorizeUrl, server.origin);
    expect(here.origin + here.pathname).toBe(there.origin + there.pathname);
    expect(pairsOf(here.searchParams)).toEqual(pairsOf(there.searchParams));
  });

  it("sends the same requests for a code, a refresh and a revocation", async () => {
    const token = await newClient().authCode.getToken("the code", { redirect_uri });
    expect(lastRequest()).toEqual(comparable(requests.code));
    const fresh = await token.refresh();
    expect(lastRequest()).toEqual(comparable(requests.refresh));
    await fresh.revoke({ token_type_hint: "refresh_token" });
    expect(lastRequest()).toEqual(comparable(requests.revoke));
  });

  it("sends the same request for client credentials", async () => {
    await newClient().clientCredentials.getToken({ scope, audience: "api" });
    expect(lastRequest()).toEqual(comparable(requests["client credentials"]));
  });

  it("reads the tokens that simple-oauth2 stored", () => {
    const token = AccessToken.fromHash(newClient(), stored);
    expect([token.token, token.refreshToken]).toEqual(["at-1", "rt"]);
    expect(token.toHash()).toHaveProperty(
      "expires_at",
      Math.floor(Date.parse(stored.expires_at) / 1000),
    );
  });
});

describe("a client that was one of the gem", () => {
  const newClient = (id = "abc", secret = "def", options = {}) =>
    new OAuth2Client(id, secret, { site: server.origin, ...options });

  it("sends the same requests for a code, a refresh and client credentials", async () => {
    await newClient().authCode.getToken("c/1+2 3", { redirect_uri: "https://cb" });
    expect(lastRequest()).toEqual(comparable(record.gem.code));
    await AccessToken.fromHash(newClient(), { access_token: "A", refresh_token: "R0" }).refresh();
    expect(lastRequest()).toEqual(comparable(record.gem.refresh));
    await newClient().clientCredentials.getToken({ resource: "R", scope: "a b" });
    expect(lastRequest()).toEqual(comparable(record.gem["client credentials"]));
  });

  it("encodes Basic credentials, and sends them raw as the gem does where it is asked to", async () => {
    const there = comparable(record.gem["reserved characters"]);
    await newClient("a:b c", "p%+/ ").clientCredentials.getToken();
    expect(lastRequest()).toEqual({
      ...there,
      authorization: `Basic ${btoa("a%3Ab+c:p%25%2B%2F+")}`,
    });
    await newClient("a:b c", "p%+/ ", { basicEncoding: "raw" }).clientCredentials.getToken();
    expect(lastRequest()).toEqual(there);
  });

  it("revokes with a form, where the gem has the token in the query", async () => {
    await AccessToken.fromHash(newClient(), { access_token: "A" }).revoke();
    const { target, authorization } = record.gem.revoke;
    const [path = "", body = ""] = target.split("?");
    expect(lastRequest()).toEqual(comparable({ target: path, authorization, body }));
  });

  it("repeats the key of a list, where the gem adds brackets", async () => {
    await newClient().clientCredentials.getToken({ resource: ["https://a", "https://b"] });
    expect(new URLSearchParams(server.seen.at(-1)?.body).getAll("resource")).toEqual([
      "https://a",
      "https://b",
    ]);
  });

  it("throws an error with code and description, as the gem does", async () => {
    server.script = [json({ error: "invalid_grant", error_description: "bad" }, 400)];
    await expect(newClient().clientCredentials.getToken()).rejects.toMatchObject({
      code: "invalid_grant",
      description: "bad",
      status: 400,
    });
  });
});

describe("the code of from-oauth2-gem.md", () => {
  it("has the URL and the exchange of the code before the move", async () => {
    interface Exports {
      readonly url: string;
      exchange(code: string): Promise<AccessToken>;
    }
    const { url, exchange } = await importBlock<Exports>("from-oauth2-gem.md", "ts", {
      "https://id.example.com": server.origin,
    });
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      response_type: "code",
      client_id: "my-id",
      redirect_uri: "https://app.example.com/callback",
      scope: "read write",
      state: "s",
    });
    expect((await exchange("the code")).token).toBe("at");
    expect(lastRequest()).toMatchObject({
      target: "/oauth/token",
      form: pairsOf(new URLSearchParams(record.simpleOAuth2.requests.code.body)),
    });
  });
});
