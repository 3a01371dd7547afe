import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  AccessToken,
  MemoryTokenStore,
  OAuth2Client,
  TokenManager,
  type TokenHash,
  type TokenStore,
} from "../../src/index.ts";
import { LostLockError } from "../../src/store/lease.ts";
import { startRotatingServer } from "../rotating-server.ts";

describe("a store that hangs", () => {
  const forever = (): Promise<never> => new Promise(() => {});
  it.each<readonly [string, Partial<TokenStore>]>([
    ["get", { get: forever }],
    ["set", { set: forever }],
    ["lock", { lock: forever }],
  ])("does not hang callers: %s", async (_case, hanging) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const memory = new MemoryTokenStore();
    const store: TokenStore = {
      get: (key) => memory.get(key),
      set: (key, token) => memory.set(key, token),
      delete: (key) => memory.delete(key),
      ...hanging,
    };
    const client = new OAuth2Client("id", "secret");
    const grant = async (): Promise<AccessToken> =>
      AccessToken.fromHash(client, { access_token: "A" });
    const manager = new TokenManager(client, { store, grant });
    const outcome = manager.getToken().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await outcome).toMatchObject({ code: "ERR_OAUTH_STORE" });
  });
});

describe("a lock that is lost with each renewal", () => {
  /**
   * Returns the tokens that one call requests until it fails, each of which takes this number of
   * milliseconds.
   */
  async function requestsOfOneCall(duration: number): Promise<readonly number[]> {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const memory = new MemoryTokenStore();
    const store: TokenStore = {
      get: (key) => memory.get(key),
      delete: (key) => memory.delete(key),
      set: async () => {
        throw new LostLockError("another process took over the lock of the token");
      },
    };
    const client = new OAuth2Client("id", "secret");
    const requests: number[] = [];
    const begun = performance.now();
    const grant = async (): Promise<AccessToken> => {
      requests.push(performance.now() - begun);
      if (requests.length > 20) throw new Error("too many requests");
      await new Promise((resolve) => setTimeout(resolve, duration));
      return AccessToken.fromHash(client, { access_token: "A" });
    };
    const manager = new TokenManager(client, { store, grant });
    const outcome = manager.getToken().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await outcome).toBeInstanceOf(LostLockError);
    return requests;
  }

  it("getToken() fails with it after three rounds, with a pause after each", async () => {
    const [first, second = 0, third = 0, ...more] = await requestsOfOneCall(0);
    expect([first, more]).toEqual([0, []]);
    expect(second).toBeGreaterThanOrEqual(100);
    expect(third - second).toBeGreaterThanOrEqual(200);
  });

  it("getToken() fails with it when the time of the call is over", async () => {
    // The client's timeout is 30 seconds.
    expect(await requestsOfOneCall(20_000)).toHaveLength(2);
  });
});

describe("a token that the store did not take", () => {
  const now = 1_800_000_000;

  /** Makes a manager of an expired token, in a store whose disk can be full. */
  async function setUp(lifetime = 3600) {
    const server = await startRotatingServer();
    onTestFinished(() => server[Symbol.asyncDispose]());
    server.lifetime = lifetime;
    const disk: { isFull: boolean; token: TokenHash | undefined } = {
      isFull: false,
      token: { access_token: "A0", refresh_token: "R0", expires_at: now - 1 },
    };
    const store: TokenStore = {
      get: () => disk.token,
      set: (_, token) => {
        if (disk.isFull) throw new Error("disk full");
        disk.token = token;
      },
      delete: () => {},
    };
    const clock = { now: now * 1000 };
    const site = server.origin;
    const client = new OAuth2Client("id", "secret", { site, clock: () => clock.now });
    const manager = new TokenManager(client, { store });
    disk.isFull = true;
    await expect(manager.getToken()).rejects.toThrow("disk full");
    return { server, disk, clock, client, manager };
  }

  it("is stored by the next call, without another refresh", async () => {
    const { server, disk, manager } = await setUp();
    disk.isFull = false;
    expect((await manager.getToken()).token).toBe("A1");
    expect(server.refreshes).toEqual(["R0"]);
    expect(disk.token).toMatchObject({ refresh_token: "R1" });
  });

  it("is refreshed when it has expired in the meantime, however long the disk was full", async () => {
    const { server, disk, clock, manager } = await setUp(60);
    clock.now += 120_000;
    await expect(manager.getToken()).rejects.toThrow("disk full");
    disk.isFull = false;
    expect((await manager.getToken()).token).toBe("A2");
    expect(server.refreshes).toEqual(["R0", "R1"]);
    expect(disk.token).toMatchObject({ refresh_token: "R2" });
  });

  it("does not replace that of a sign-in in another process", async () => {
    const { disk, manager } = await setUp();
    disk.isFull = false;
    disk.token = { access_token: "theirs", refresh_token: "R9", expires_at: now + 999 };
    expect((await manager.getToken()).token).toBe("theirs");
    expect(disk.token).toMatchObject({ refresh_token: "R9" });
  });

  it("is forgotten when another process signed out", async () => {
    const { disk, manager } = await setUp();
    disk.isFull = false;
    disk.token = undefined;
    await expect(manager.getToken()).rejects.toThrow("no token is stored yet");
  });

  it("replaces what was there before, when it is that of a sign-in here", async () => {
    const { disk, client, manager } = await setUp();
    const hash = { access_token: "mine", refresh_token: "R5", expires_at: now + 999 };
    await expect(manager.set(AccessToken.fromHash(client, hash))).rejects.toThrow("disk full");
    disk.isFull = false;
    expect((await manager.getToken()).token).toBe("mine");
    expect(disk.token).toMatchObject({ refresh_token: "R5" });
  });
});
