import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  AccessToken,
  MemoryTokenStore,
  OAuth2Client,
  OAuth2Error,
  TokenManager,
  type TokenHash,
  type TokenStore,
} from "../../src/index.ts";
import { startRotatingServer, type RotatingServer } from "../rotating-server.ts";

const now = 1_800_000_000;

interface Setup {
  readonly client: OAuth2Client;
  readonly expired: AccessToken;
}

function setUp(server: RotatingServer, clock = () => now * 1000): Setup {
  const client = new OAuth2Client("id", "secret", { site: server.origin, clock });
  const expired = AccessToken.fromHash(client, {
    access_token: "A0",
    refresh_token: "R0",
    expires_at: now - 1,
  });
  return { client, expired };
}

async function managerOf(
  server: RotatingServer,
  options: ConstructorParameters<typeof TokenManager>[1] = {},
): Promise<Setup & { readonly manager: TokenManager }> {
  const setup = setUp(server);
  const manager = new TokenManager(setup.client, options);
  await manager.set(setup.expired);
  return { ...setup, manager };
}

describe("refusals", () => {
  it.each<[string, object]>([
    ["store", { store: {} }],
    ["grant", { grant: "client_credentials" }],
    ["onChange", { onChange: true }],
  ])("refuses a %s that cannot serve, at once: %j", (name, options) => {
    const client = new OAuth2Client("id");
    expect(() => new TokenManager(client, options)).toThrow(
      expect.objectContaining({
        code: "ERR_OAUTH_OPTION",
        message: expect.stringContaining(name),
      }),
    );
  });

  it("says that no token is stored yet", async () => {
    const manager = new TokenManager(new OAuth2Client("id"));
    await expect(manager.getToken()).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
  });

  it("says that an expired token without refresh token cannot be refreshed", async () => {
    const client = new OAuth2Client("id");
    const manager = new TokenManager(client);
    await manager.set(AccessToken.fromHash(client, { access_token: "A", expires_at: 1 }));
    await expect(manager.getToken()).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN",
      message: expect.stringContaining("cannot be refreshed"),
    });
  });

  it("passes a refusal of the server on to every caller, and keeps what is stored", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { manager } = await managerOf(server, { store });
    await manager.set(
      AccessToken.fromHash(manager.client, {
        access_token: "A",
        refresh_token: "stolen",
        expires_at: 1,
      }),
    );
    const results = await Promise.allSettled([manager.getToken(), manager.getToken()]);
    for (const result of results) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "invalid_grant" } });
    }
    expect(server.refreshes).toEqual(["stolen"]);
    expect(store.get("default")).toMatchObject({ refresh_token: "stolen" });
  });

  it("sends a refresh token that the server refused no second time, until it is set again", async () => {
    await using server = await startRotatingServer();
    const { manager, expired } = await managerOf(server);
    const { client } = manager;
    const fields = { access_token: "A", refresh_token: "void", expires_at: 1 };
    const refused = AccessToken.fromHash(client, fields);
    await manager.set(refused);
    for (let count = 0; count < 3; count += 1) {
      await expect(manager.getToken()).rejects.toMatchObject({ code: "invalid_grant" });
    }
    expect(server.refreshes).toEqual(["void"]);
    await manager.set(refused);
    await expect(manager.getToken()).rejects.toMatchObject({ code: "invalid_grant" });
    expect(server.refreshes).toEqual(["void", "void"]);
    expect(expired.refreshToken).toBe("R0");
  });
});

describe("single flight", () => {
  it("makes one refresh of 1,000 callers", async () => {
    await using server = await startRotatingServer();
    const { manager } = await managerOf(server);
    const tokens = await Promise.all(Array.from({ length: 1000 }, () => manager.getToken()));
    expect(server.refreshes).toEqual(["R0"]);
    expect(new Set(tokens.map(({ token }) => token))).toEqual(new Set(["A1"]));
  });

  it("makes one refresh of two managers on one store", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { manager, client } = await managerOf(server, { store });
    const other = new TokenManager(client, { store });
    const [mine, theirs] = await Promise.all([manager.getToken(), other.getToken()]);
    expect(server.refreshes).toEqual(["R0"]);
    expect([mine.token, theirs.token]).toEqual(["A1", "A1"]);
  });

  it("does not abort the others when one caller aborts", async () => {
    await using server = await startRotatingServer();
    const { manager } = await managerOf(server);
    const controller = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    server.onRefresh = () => {
      arrived.resolve();
      return answer.promise;
    };
    const leaving = manager.getToken({ signal: controller.signal });
    const staying = manager.getToken();
    await arrived.promise;
    controller.abort(new Error("gone"));
    await expect(leaving).rejects.toThrow("gone");
    answer.resolve();
    expect((await staying).token).toBe("A1");
    expect(server.refreshes).toHaveLength(1);
  });

  it("keeps a refresh whose only caller has left", async () => {
    await using server = await startRotatingServer();
    const { manager } = await managerOf(server);
    const controller = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    server.onRefresh = () => {
      arrived.resolve();
      return answer.promise;
    };
    const leaving = manager.getToken({ signal: controller.signal });
    await arrived.promise;
    controller.abort();
    await expect(leaving).rejects.toThrow();
    answer.resolve();
    expect((await manager.getToken()).token).toBe("A1");
    expect(server.refreshes).toHaveLength(1);
  });

  it("renews a refused token once, however many requests it was refused", async () => {
    await using server = await startRotatingServer();
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { manager } = await managerOf(server);
    const refused = await manager.getToken();
    vi.advanceTimersByTime(5000);
    await Promise.all(Array.from({ length: 50 }, () => manager.getToken({ refused })));
    const late = await manager.getToken({ refused });
    expect(late.token).toBe("A2");
    expect(server.refreshes).toEqual(["R0", "R1"]);
  });
});

describe("early renewal", () => {
  const lifetimes = [
    { left: 31, lifetime: 3600, renewed: false },
    { left: 30, lifetime: 3600, renewed: true },
    { left: 29, lifetime: 3600, renewed: true },
    { left: 11, lifetime: 40, renewed: false },
    { left: 10, lifetime: 40, renewed: true },
  ];
  it.each(lifetimes)(
    "with $left s left of $lifetime, renews: $renewed",
    async ({ left, lifetime, renewed }) => {
      await using server = await startRotatingServer();
      server.lifetime = lifetime;
      let time = now;
      const { client, expired } = setUp(server, () => time * 1000);
      const manager = new TokenManager(client);
      await manager.set(expired);
      await manager.getToken();
      time = now + lifetime - left;
      await manager.getToken();
      expect(server.refreshes).toHaveLength(renewed ? 2 : 1);
    },
  );

  it("returns the old token while it is good and the server is down", async () => {
    await using server = await startRotatingServer();
    const client = new OAuth2Client("id", "secret", {
      site: server.origin,
      clock: () => now * 1000,
      connectionOpts: { timeout: 90 },
    });
    const manager = new TokenManager(client);
    const nearly = { access_token: "good", refresh_token: "R0", expires_at: now + 20 };
    await manager.set(AccessToken.fromHash(client, nearly));
    await server[Symbol.asyncDispose]();
    expect((await manager.getToken()).token).toBe("good");
    await expect(manager.getToken({ minValidity: 21 })).rejects.toMatchObject({
      code: "ERR_OAUTH_CONNECTION",
    });
  });

  it("renews a token that is not good for as long as is wanted", async () => {
    await using server = await startRotatingServer();
    const { manager, client } = await managerOf(server);
    const hash = { access_token: "good", refresh_token: "R0", expires_at: now + 100 };
    await manager.set(AccessToken.fromHash(client, hash));
    expect((await manager.getToken({ minValidity: 99 })).token).toBe("good");
    expect((await manager.getToken({ minValidity: 101 })).token).toBe("A1");
  });

  it("renews a token that another caller waits for too, but that is not good for as long as this one wants", async () => {
    await using server = await startRotatingServer();
    const { client } = setUp(server);
    const store = new MemoryTokenStore();
    store.set("default", { access_token: "good", refresh_token: "R0", expires_at: now + 100 });
    const manager = new TokenManager(client, { store });
    const validities = [0, 99, 101, 200];
    const callers = validities.map((minValidity) => manager.getToken({ minValidity }));
    const tokens = (await Promise.all(callers)).map(({ token }) => token);
    expect(tokens).toEqual(["good", "good", "A1", "A1"]);
    expect(server.refreshes).toEqual(["R0"]);
  });

  it("does not return a refused token because another caller waits for the same one", async () => {
    await using server = await startRotatingServer();
    const { client } = setUp(server);
    const store = new MemoryTokenStore();
    store.set("default", { access_token: "good", refresh_token: "R0" });
    const manager = new TokenManager(client, { store });
    const refused = new AccessToken(client, "good");
    const callers = [manager.getToken(), manager.getToken({ refused })];
    expect((await Promise.all(callers)).map(({ token }) => token)).toEqual(["good", "A1"]);
  });
});

describe("store", () => {
  it("stores a new token, then awaits onChange, then lets the callers go on", async () => {
    await using server = await startRotatingServer();
    const steps: string[] = [];
    const saved = new MemoryTokenStore();
    const store: TokenStore = {
      get: (key) => saved.get(key),
      set: (key, token) => {
        steps.push(`store ${String(token["access_token"])}`);
        saved.set(key, token);
      },
      delete: (key) => saved.delete(key),
    };
    const { manager } = await managerOf(server, {
      store,
      onChange: async (token, previous) => {
        await Promise.resolve();
        steps.push(`changed ${previous?.token ?? "none"} to ${token.token}`);
      },
    });
    steps.length = 0;
    await Promise.all([1, 2].map(() => manager.getToken().then(() => steps.push("goes on"))));
    expect(steps).toEqual(["store A1", "changed A0 to A1", "goes on", "goes on"]);
  });

  it("takes a token that another process has stored, without a request", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { manager } = await managerOf(server, { store });
    store.set("default", { access_token: "theirs", refresh_token: "R9", expires_at: now + 999 });
    expect((await manager.getToken()).token).toBe("theirs");
    expect(server.refreshes).toEqual([]);
  });

  it("keeps options of the token through the store", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { client } = setUp(server);
    const first = new TokenManager(client, { store });
    await first.set(
      AccessToken.fromHash(
        client,
        { access_token: "A", refresh_token: "R0", expires_at: 1 },
        { mode: "query", paramName: "t" },
      ),
    );
    const token = await new TokenManager(client, { store }).getToken();
    expect(token).toMatchObject({ token: "A1", options: { mode: "query", paramName: "t" } });
  });

  it("forgets the token in memory and store", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { manager } = await managerOf(server, { store });
    await manager.clear();
    expect(store.get("default")).toBeUndefined();
    await expect(manager.getToken()).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
  });

  it("does not bring a token back that was cleared while it was refreshed", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { manager } = await managerOf(server, { store });
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    server.onRefresh = () => {
      arrived.resolve();
      return answer.promise;
    };
    const refreshing = manager.getToken();
    await arrived.promise;
    const cleared = manager.clear();
    answer.resolve();
    await Promise.all([refreshing, cleared]);
    expect(store.get("default")).toBeUndefined();
    expect(manager.peek()).toBeUndefined();
  });

  it("does not keep a token that was read while it was cleared", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const [deleting, deletion] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { client } = setUp(server);
    const slow: TokenStore = {
      get: (key) => store.get(key),
      set: (key, token) => store.set(key, token),
      async delete(key) {
        deleting.resolve();
        await deletion.promise;
        store.delete(key);
      },
    };
    const manager = new TokenManager(client, { store: slow });
    await manager.set(AccessToken.fromHash(client, { access_token: "of the user" }));
    const cleared = manager.clear();
    await deleting.promise;
    await manager.getToken();
    deletion.resolve();
    await cleared;
    expect(manager.peek()).toBeUndefined();
    await expect(manager.getToken()).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
  });

  it("does not put a token that it read before over one that was set in the meantime", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    store.set("default", { access_token: "of the old user" });
    const { client } = setUp(server);
    const reading = Promise.withResolvers<void>();
    const slow: TokenStore = {
      async get(key) {
        const read = store.get(key);
        await reading.promise;
        return read;
      },
      set: (key, token) => store.set(key, token),
      delete: (key) => store.delete(key),
    };
    const manager = new TokenManager(client, { store: slow });
    const early = manager.getToken();
    await manager.set(AccessToken.fromHash(client, { access_token: "of the new user" }));
    reading.resolve();
    await early;
    expect((await manager.getToken()).token).toBe("of the new user");
  });

  it("does not put a refreshed token over one that was set in the meantime, in a store without locks", async () => {
    await using server = await startRotatingServer();
    const tokens = new Map<string, TokenHash>();
    const store: TokenStore = {
      get: (key) => tokens.get(key),
      set: (key, token) => void tokens.set(key, token),
      delete: (key) => void tokens.delete(key),
    };
    const { manager, client } = await managerOf(server, { store });
    const arrived = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    server.onRefresh = () => {
      arrived.resolve();
      return answer.promise;
    };
    const refreshing = manager.getToken();
    await arrived.promise;
    await manager.set(AccessToken.fromHash(client, { access_token: "of another sign-in" }));
    answer.resolve();
    await refreshing;
    expect(tokens.get("default")).toMatchObject({ access_token: "of another sign-in" });
    expect(manager.peek()?.token).toBe("of another sign-in");
  });

  it("keeps tokens of different keys apart", async () => {
    await using server = await startRotatingServer();
    const store = new MemoryTokenStore();
    const { client } = setUp(server);
    const ann = new TokenManager(client, { store, key: "ann" });
    const bob = new TokenManager(client, { store, key: "bob" });
    await ann.set(AccessToken.fromHash(client, { access_token: "of-ann" }));
    await bob.set(AccessToken.fromHash(client, { access_token: "of-bob" }));
    const fresh = new TokenManager(client, { store, key: "ann" });
    expect((await fresh.getToken()).token).toBe("of-ann");
  });
});

it("a manager takes a token of a short life from the store while it is good, as the one who stored it does", async () => {
  await using server = await startRotatingServer();
  server.lifetime = 20;
  const store = new MemoryTokenStore();
  const { client, manager } = await managerOf(server, { store });
  expect((await manager.getToken()).token).toBe("A1");
  const other = new TokenManager(client, { store });
  expect(await other.getToken()).toMatchObject({ token: "A1", expiresIn: 20 });
  expect(server.refreshes).toHaveLength(1);
});

describe("grant", () => {
  it("gets a first token with it, once for all callers", async () => {
    const client = new OAuth2Client("id");
    const grant = vi.fn(async () => AccessToken.fromHash(client, { access_token: "G" }));
    const manager = new TokenManager(client, { grant });
    const tokens = await Promise.all([manager.getToken(), manager.getToken()]);
    expect(tokens.map(({ token }) => token)).toEqual(["G", "G"]);
    expect(grant).toHaveBeenCalledOnce();
  });

  it("gets another one with it when the server refuses the refresh token", async () => {
    await using server = await startRotatingServer();
    const { client } = setUp(server);
    const grant = async (): Promise<AccessToken> =>
      AccessToken.fromHash(client, { access_token: "G" });
    const manager = new TokenManager(client, { grant });
    await manager.set(
      AccessToken.fromHash(client, { access_token: "A", refresh_token: "void", expires_at: 1 }),
    );
    expect((await manager.getToken()).token).toBe("G");
  });

  it("takes the failure of a client that raises no errors for one", async () => {
    const client = new OAuth2Client("id");
    const refused = new OAuth2Error("no", { code: "access_denied" });
    const manager = new TokenManager(client, {
      grant: async () => AccessToken.failed(client, refused),
    });
    await expect(manager.getToken()).rejects.toBe(refused);
  });
});
