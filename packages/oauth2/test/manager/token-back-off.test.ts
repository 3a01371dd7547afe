import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessToken, authorizedFetch, OAuth2Client, TokenManager } from "../../src/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
let now: number;
beforeEach(async () => {
  server = await startScriptedServer();
  now = 1_800_000_000_000;
});
afterEach(() => server[Symbol.asyncDispose]());

const client = (): OAuth2Client =>
  new OAuth2Client("id", "secret", { site: server.origin, clock: () => now });

async function managerOf(hash: Record<string, unknown> = {}): Promise<TokenManager> {
  const manager = new TokenManager(client());
  const expired = { access_token: "A", refresh_token: "R", expires_at: 1 };
  await manager.set(AccessToken.fromHash(manager.client, { ...expired, ...hash }));
  return manager;
}

const grantManager = (): TokenManager => {
  const own = client();
  return new TokenManager(own, { grant: () => own.clientCredentials.getToken() });
};

const refusal = (headers: Record<string, string> = {}, status = 503): typeof server.script => [
  { status, headers, body: "busy" },
];

/** Asks as often as callers do who do not care. */
async function ask(manager: TokenManager, times = 20): Promise<readonly unknown[]> {
  const outcomes: unknown[] = [];
  for (let count = 0; count < times; count += 1) {
    outcomes.push(await manager.getToken().catch((error: unknown) => error));
  }
  return outcomes;
}

describe("after a token request that failed, TokenManager", () => {
  it.each([
    ["seconds", "60"],
    ["a date", new Date(1_800_000_060_000).toUTCString()],
  ])("sends none until the time of a Retry-After of %s", async (_case, value) => {
    server.script = refusal({ "retry-after": value });
    const manager = await managerOf();
    const outcomes = await ask(manager);
    expect(outcomes.every((outcome) => outcome === outcomes[0])).toBe(true);
    expect(outcomes[0]).toMatchObject({ name: "OAuth2Error", status: 503 });
    expect(server.seen).toHaveLength(1);
    now += 59_999;
    await ask(manager);
    expect(server.seen).toHaveLength(1);
    now += 1;
    server.script = [];
    expect((await manager.getToken()).token).toBe("AT");
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    ["a status of 500", refusal({}, 500)],
    ["a Retry-After that is not a time", refusal({ "retry-after": "soon" })],
    ["a refusal of the client", [json({ error: "invalid_client" }, 401)]],
    ["a response without a token", [json({ fine: true })]],
  ])("waits a second, then twice as long each time, up to a minute: %s", async (_case, script) => {
    server.script = script;
    const manager = grantManager();
    for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await ask(manager, 3);
      expect(server.seen).toHaveLength(index + 1);
      now += seconds * 1000 - 1;
      await ask(manager, 3);
      expect(server.seen).toHaveLength(index + 1);
      now += 1;
    }
    server.script = [];
    expect((await manager.getToken()).token).toBe("AT");
  });

  it("waits after a server that cannot be reached, and starts from a second after a success", async () => {
    const manager = await managerOf({ refresh_token: "R" });
    server.script = refusal();
    await ask(manager, 1);
    now += 1000;
    await ask(manager, 1);
    now += 2000;
    server.script = [json({ access_token: "B", refresh_token: "R", expires_in: 10 })];
    expect((await manager.getToken()).token).toBe("B");
    now += 60_000;
    const count = server.seen.length;
    const [first, ...others] = await (async () => {
      await server[Symbol.asyncDispose]();
      return ask(manager);
    })();
    expect(first).toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    expect(others.every((error) => error === first)).toBe(true);
    expect(server.seen).toHaveLength(count);
  });

  it("returns the old token meanwhile if that is still good", async () => {
    server.script = refusal({ "retry-after": "600" });
    const manager = await managerOf({ access_token: "good", expires_at: now / 1000 + 20 });
    const outcomes = await ask(manager);
    expect(outcomes).toMatchObject(outcomes.map(() => ({ token: "good" })));
    expect(server.seen).toHaveLength(1);
  });

  it("sends one at once when another token is set, and when it is cleared", async () => {
    server.script = refusal({ "retry-after": "600" });
    const manager = await managerOf();
    await ask(manager);
    server.script = [];
    const other = { access_token: "A", refresh_token: "R2", expires_at: 1 };
    await manager.set(AccessToken.fromHash(manager.client, other));
    expect((await manager.getToken()).token).toBe("AT");
    const withGrant = grantManager();
    server.script = refusal();
    await ask(withGrant);
    await withGrant.clear();
    server.script = [];
    expect((await withGrant.getToken()).token).toBe("AT");
  });

  it("believes no Retry-After of more than a day", async () => {
    server.script = refusal({ "retry-after": "9999999999" });
    const manager = await managerOf();
    await ask(manager);
    now += 86_400_000;
    await ask(manager);
    expect(server.seen).toHaveLength(2);
  });

  it("gets another token by its grant at once when the refresh token is refused", async () => {
    const own = client();
    const manager = new TokenManager(own, { grant: () => own.clientCredentials.getToken() });
    const expired = { access_token: "A", refresh_token: "R", expires_at: 1 };
    await manager.set(AccessToken.fromHash(own, expired));
    server.script = [json({ error: "invalid_grant" }, 400), json({ access_token: "new" })];
    expect((await manager.getToken()).token).toBe("new");
    expect(server.seen).toHaveLength(2);
  });

  it("sends one request of many that a resource refused", async () => {
    const manager = await managerOf({ expires_at: null });
    server.respond = ({ target }) =>
      target === "/oauth/token" ? refusal({ "retry-after": "60" })[0] : json({}, 401);
    const api = authorizedFetch(manager);
    for (let count = 0; count < 5; count += 1) expect((await api("/r")).status).toBe(401);
    expect(server.seen.filter(({ target }) => target === "/oauth/token")).toHaveLength(1);
  });
});

describe("with tokens that expire at once, TokenManager", () => {
  it.each([
    ["expires_in: -5", { expires_in: -5 }],
    ["expires_at in the past", { expires_at: 5 }],
  ])(
    "sends no request per call, and returns the token that there is: %s",
    async (_case, fields) => {
      server.script = [json({ access_token: "old", ...fields })];
      const manager = grantManager();
      for (const [index, seconds] of [1, 2, 4].entries()) {
        const outcomes = await ask(manager);
        expect(outcomes).toMatchObject(outcomes.map(() => ({ token: "old" })));
        expect(server.seen).toHaveLength(index + 1);
        now += seconds * 1000;
      }
    },
  );

  it("does not return the token that a resource refused", async () => {
    server.script = [json({ access_token: "old", expires_in: -5 })];
    const manager = grantManager();
    const refused = await manager.getToken();
    await expect(manager.getToken({ refused })).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    expect(server.seen).toHaveLength(1);
  });

  it("sends no request per call for a validity that a token cannot have", async () => {
    server.script = [json({ access_token: "short", expires_in: 60 })];
    const manager = grantManager();
    for (let count = 0; count < 5; count += 1) {
      expect((await manager.getToken({ minValidity: 3600 })).token).toBe("short");
    }
    expect(server.seen).toHaveLength(1);
    expect((await manager.getToken()).token).toBe("short");
  });
});
