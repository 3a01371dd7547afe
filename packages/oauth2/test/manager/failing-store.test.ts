import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  AccessToken,
  MemoryTokenStore,
  OAuth2Client,
  TokenManager,
  type TokenStore,
} from "../../src/index.ts";
import { LostLockError } from "../../src/store/lease.ts";

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
   * Returns the tokens that one call requests until it fails, each of which takes so many
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
