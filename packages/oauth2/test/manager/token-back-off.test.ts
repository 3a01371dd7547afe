import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  OAuth2Client,
  OAuth2ConnectionError,
  TokenManager,
} from "../../src/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
const now = 1_800_000_000_000;
beforeEach(async () => {
  server = await startScriptedServer();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await server[Symbol.asyncDispose]();
});

const client = (timeout?: number): OAuth2Client =>
  new OAuth2Client("id", "secret", {
    site: server.origin,
    clock: () => now,
    connectionOpts: { timeout },
  });

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

/** Asks at the same time, and resolves when all callers wait for the next request. */
async function askAndWait(manager: TokenManager, callers: number): Promise<Promise<AccessToken>[]> {
  const tokens = Array.from({ length: callers }, () => manager.getToken());
  for (const token of tokens) token.catch(() => {});
  await waiting(callers);
  return tokens;
}

/**
 * Resolves when this many callers wait. They begin together; a request has fewer timers than ten of
 * them.
 */
async function waiting(callers: number): Promise<void> {
  while (vi.getTimerCount() < callers) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

async function expectTokens(waiters: readonly Promise<AccessToken>[]): Promise<void> {
  const tokens = await Promise.all(waiters);
  expect(tokens).toMatchObject(waiters.map(() => ({ token: "AT" })));
}

/** Asks as often as callers do who do not care. */
async function ask(manager: TokenManager, times = 20): Promise<readonly unknown[]> {
  const outcomes: unknown[] = [];
  for (let count = 0; count < times; count += 1) {
    outcomes.push(await manager.getToken().catch((error: unknown) => error));
  }
  return outcomes;
}

/** The same token, when it is old enough to be renewed because it was refused. */
async function later(token: AccessToken): Promise<AccessToken> {
  await vi.advanceTimersByTimeAsync(5000);
  return token;
}

describe("after a token request that failed, TokenManager", () => {
  it.each([
    ["seconds", "20"],
    ["a date", new Date(now + 20_000).toUTCString()],
  ])("sends none until the time of a Retry-After of %s, and callers wait", async (_case, value) => {
    server.script = refusal({ "retry-after": value });
    const manager = await managerOf();
    const early = await askAndWait(manager, 10);
    await vi.advanceTimersByTimeAsync(19_998);
    const late = Array.from({ length: 10 }, () => manager.getToken());
    await waiting(20);
    expect(server.seen).toHaveLength(1);
    server.script = [];
    await vi.advanceTimersByTimeAsync(2);
    await expectTokens([...early, ...late]);
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    ["a reset connection", undefined],
    ["a status of 500", refusal({}, 500)],
    ["a status of 429", refusal({}, 429)],
    ["a Retry-After that is not a time", refusal({ "retry-after": "soon" })],
  ])("loses no call, and sends the next one after 100 ms: %s", async (_case, script) => {
    if (script === undefined) server.resets = 1;
    else server.script = script;
    const manager = grantManager();
    const waiters = await askAndWait(manager, 20);
    server.script = [];
    await vi.advanceTimersByTimeAsync(99);
    expect(server.seen).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await expectTokens(waiters);
    expect(server.seen).toHaveLength(2);
  });

  it("waits twice as long each time, up to 30 seconds, and from 100 ms again after a success", async () => {
    let requests = 0;
    let isDown = true;
    const own = client(0);
    const manager = new TokenManager(own, {
      grant: async () => {
        requests += 1;
        if (isDown) throw new OAuth2ConnectionError("down");
        return AccessToken.fromHash(own, { access_token: `T${requests}`, expires_in: 100 });
      },
    });
    const token = manager.getToken();
    await waiting(1);
    const pauses = [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
    for (const [index, pause] of pauses.entries()) {
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect(requests).toBe(index + 1);
      isDown = index < pauses.length - 1;
      await vi.advanceTimersByTimeAsync(1);
      expect(requests).toBe(index + 2);
    }
    const first = await token;
    isDown = true;
    const next = manager.getToken({ refused: await later(first) });
    await waiting(1);
    isDown = false;
    await vi.advanceTimersByTimeAsync(100);
    expect((await next).token).toBe("T14");
  });

  it.each([
    ["a refusal of the client", [json({ error: "invalid_client" }, 401)]],
    ["a response without a token", [json({ fine: true })]],
  ])(
    "fails callers at once while it sends none, if waiting does not help: %s",
    async (_case, script) => {
      server.script = script;
      const manager = grantManager();
      for (const [index, pause] of [100, 200, 400, 25_600, 30_000].entries()) {
        const outcomes = await ask(manager, 3);
        expect(outcomes[0]).toBeInstanceOf(Error);
        expect(outcomes.every((outcome) => outcome === outcomes[0])).toBe(true);
        expect(server.seen).toHaveLength(index + 1);
        await vi.advanceTimersByTimeAsync(pause);
      }
      server.script = [];
      expect((await manager.getToken()).token).toBe("AT");
    },
  );

  it("fails callers at once whose time limit ends before the next one", async () => {
    server.script = refusal({ "retry-after": "40" });
    const manager = await managerOf();
    const outcomes = await ask(manager);
    expect(outcomes[0]).toMatchObject({ name: "OAuth2Error", status: 503 });
    expect(outcomes.every((outcome) => outcome === outcomes[0])).toBe(true);
    expect(server.seen).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10_001);
    const waiters = await askAndWait(manager, 10);
    server.script = [];
    await vi.advanceTimersByTimeAsync(29_999);
    await expectTokens(waiters);
  });

  it("fails a caller with the last error when its time limit is over", async () => {
    server.script = refusal({}, 500);
    const own = client(1000);
    const manager = new TokenManager(own, { grant: () => own.clientCredentials.getToken() });
    const waiters = await askAndWait(manager, 10);
    await vi.advanceTimersByTimeAsync(100);
    await waiting(10);
    await vi.advanceTimersByTimeAsync(200);
    await waiting(10);
    await vi.advanceTimersByTimeAsync(400);
    const outcomes = await Promise.allSettled(waiters);
    expect(outcomes).toMatchObject(
      outcomes.map(() => ({ status: "rejected", reason: { status: 500 } })),
    );
    expect(server.seen).toHaveLength(4);
  });

  it("lets the signal of a caller end its wait, and no other", async () => {
    server.script = refusal();
    const manager = await managerOf();
    const controller = new AbortController();
    const mine = manager.getToken({ signal: controller.signal });
    mine.catch(() => {});
    const waiters = Array.from({ length: 10 }, () => manager.getToken());
    await waiting(11);
    controller.abort(new Error("left"));
    await expect(mine).rejects.toThrow("left");
    server.script = [];
    await vi.advanceTimersByTimeAsync(100);
    await expectTokens(waiters);
  });

  it("does not wait longer when the clock of the system is set back", async () => {
    let time = now;
    server.script = refusal();
    const own = new OAuth2Client("id", "secret", { site: server.origin, clock: () => time });
    const manager = new TokenManager(own, { grant: () => own.clientCredentials.getToken() });
    const waiters = await askAndWait(manager, 10);
    time -= 3_600_000;
    server.script = [];
    await vi.advanceTimersByTimeAsync(100);
    await expectTokens(waiters);
  });

  it("returns the old token in the meantime if that is still good", async () => {
    server.script = refusal({ "retry-after": "600" });
    const manager = await managerOf({ access_token: "good", expires_at: now / 1000 + 20 });
    const outcomes = await ask(manager);
    expect(outcomes).toMatchObject(outcomes.map(() => ({ token: "good" })));
    expect(server.seen).toHaveLength(1);
  });

  it("sends one at once when another token is set, and when it is cleared", async () => {
    server.script = refusal();
    const manager = await managerOf();
    const waiters = await askAndWait(manager, 10);
    server.script = [];
    const other = { access_token: "A", refresh_token: "R2", expires_at: 1 };
    await manager.set(AccessToken.fromHash(manager.client, other));
    await expectTokens(waiters);
    const withGrant = grantManager();
    server.script = refusal({ "retry-after": "600" });
    await ask(withGrant);
    await withGrant.clear();
    server.script = [];
    expect((await withGrant.getToken()).token).toBe("AT");
  });

  it("believes no Retry-After of more than a minute", async () => {
    server.script = refusal({ "retry-after": "86400" });
    const manager = await managerOf();
    await ask(manager);
    await vi.advanceTimersByTimeAsync(60_000);
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

  it("does not renew a token that a resource refuses within 5 seconds of its request", async () => {
    const manager = await managerOf({ expires_at: null });
    let tokens = 0;
    server.respond = ({ target }) => {
      if (target !== "/oauth/token") return json({}, 401);
      tokens += 1;
      return json({ access_token: `T${tokens}`, refresh_token: `R${tokens}` });
    };
    const api = authorizedFetch(manager);
    for (let count = 0; count < 5; count += 1) expect((await api("/r")).status).toBe(401);
    expect(tokens).toBe(1);
    await vi.advanceTimersByTimeAsync(4999);
    await api("/r");
    expect(tokens).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    for (let count = 0; count < 5; count += 1) await api("/r");
    expect(tokens).toBe(2);
  });

  it("renews a refused token within 5 seconds of its request if it has expired", async () => {
    let time = now;
    const own = new OAuth2Client("id", "secret", { site: server.origin, clock: () => time });
    const manager = new TokenManager(own, { grant: () => own.clientCredentials.getToken() });
    server.script = [json({ access_token: "short", expires_in: 2 })];
    const refused = await manager.getToken();
    server.script = [];
    time += 3000;
    expect((await manager.getToken({ refused })).token).toBe("AT");
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
      for (const [index, pause] of [100, 200, 400].entries()) {
        const outcomes = await ask(manager);
        expect(outcomes).toMatchObject(outcomes.map(() => ({ token: "old" })));
        expect(server.seen).toHaveLength(index + 1);
        await vi.advanceTimersByTimeAsync(pause);
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
