import { describe, expect, it, vi } from "vitest";
import { AccessToken, MemoryTokenStore, OAuth2Client, TokenManager } from "../../src/index.ts";
import { startRotatingServer } from "../rotating-server.ts";

const now = 1_800_000_000;

function clientOf(site = "http://localhost"): OAuth2Client {
  return new OAuth2Client("id", "secret", { site, clock: () => now * 1000 });
}

function tokenOf(client: OAuth2Client, fields: Record<string, unknown>): AccessToken {
  return AccessToken.fromHash(client, fields);
}

describe("has()", () => {
  it.each<[boolean, string, Record<string, unknown> | undefined]>([
    [false, "no token", undefined],
    [
      false,
      "an expired token that cannot be refreshed",
      { access_token: "A", expires_at: now - 1 },
    ],
    [true, "a token that is good", { access_token: "A", expires_at: now + 60 }],
    [true, "a token without an expiry", { access_token: "A" }],
    [
      true,
      "an expired token that can be refreshed",
      { access_token: "A", refresh_token: "R", expires_at: now - 1 },
    ],
  ])("is %s of %s, and sends nothing", async (expected, _, fields) => {
    const client = clientOf();
    const store = new MemoryTokenStore();
    const manager = new TokenManager(client, { store });
    // Stored by another process.
    if (fields !== undefined) store.set("default", fields);
    expect(await manager.has()).toBe(expected);
  });

  it("is false once the server has refused the refresh token, and true after a sign-in", async () => {
    await using server = await startRotatingServer();
    const client = clientOf(server.origin);
    const manager = new TokenManager(client);
    await manager.set(tokenOf(client, { access_token: "A", refresh_token: "void", expires_at: 1 }));
    expect(await manager.has()).toBe(true);
    await expect(manager.getToken()).rejects.toMatchObject({ code: "invalid_grant" });
    expect(await manager.has()).toBe(false);
    await manager.set(tokenOf(client, { access_token: "B" }));
    expect(await manager.has()).toBe(true);
  });

  it("is true where a grant needs no user", async () => {
    const client = clientOf();
    const grant = () => client.clientCredentials.getToken();
    expect(await new TokenManager(client, { grant }).has()).toBe(true);
  });

  it("is false after another process has signed out", async () => {
    const client = clientOf();
    const store = new MemoryTokenStore();
    const manager = new TokenManager(client, { store });
    await manager.set(tokenOf(client, { access_token: "A" }));
    store.delete("default");
    expect(await manager.has()).toBe(false);
  });
});

describe("getToken({ orElse })", () => {
  it("signs in once for all callers where no token is stored, and stores the token", async () => {
    const client = clientOf();
    const store = new MemoryTokenStore();
    const manager = new TokenManager(client, { store });
    const orElse = vi.fn(async () => tokenOf(client, { access_token: "A" }));
    const tokens = await Promise.all([1, 2, 3].map(() => manager.getToken({ orElse })));
    expect(tokens.map(({ token }) => token)).toEqual(["A", "A", "A"]);
    expect((await manager.getToken({ orElse })).token).toBe("A");
    expect(orElse).toHaveBeenCalledTimes(1);
    expect(store.get("default")).toMatchObject({ access_token: "A" });
  });

  it("signs in where the refresh token was refused", async () => {
    await using server = await startRotatingServer();
    const client = clientOf(server.origin);
    const manager = new TokenManager(client);
    await manager.set(tokenOf(client, { access_token: "A", refresh_token: "void", expires_at: 1 }));
    const token = await manager.getToken({
      orElse: async () => tokenOf(client, { access_token: "B" }),
    });
    expect(token.token).toBe("B");
    expect(server.refreshes).toEqual(["void"]);
  });

  it("signs nobody in while the server cannot be reached", async () => {
    const client = new OAuth2Client("id", "secret", {
      site: "http://127.0.0.1:9",
      connectionOpts: { timeout: 300 },
      clock: () => now * 1000,
    });
    const manager = new TokenManager(client);
    await manager.set(tokenOf(client, { access_token: "A", refresh_token: "R", expires_at: 1 }));
    const orElse = vi.fn(async () => tokenOf(client, { access_token: "B" }));
    await expect(manager.getToken({ orElse })).rejects.toMatchObject({
      name: "OAuth2ConnectionError",
    });
    expect(orElse).not.toHaveBeenCalled();
  });

  it("rejects with what the sign-in throws, and tries again with the next call", async () => {
    const client = clientOf();
    const manager = new TokenManager(client);
    const cancelled = new Error("the user closed the window");
    await expect(manager.getToken({ orElse: () => Promise.reject(cancelled) })).rejects.toBe(
      cancelled,
    );
    const orElse = async () => tokenOf(client, { access_token: "A" });
    expect((await manager.getToken({ orElse })).token).toBe("A");
  });

  it("ends the wait of a caller whose signal aborts, and not the sign-in", async () => {
    const client = clientOf();
    const manager = new TokenManager(client);
    const user = Promise.withResolvers<AccessToken>();
    const orElse = () => user.promise;
    const impatient = manager.getToken({ orElse, signal: AbortSignal.timeout(20) });
    const patient = manager.getToken({ orElse });
    await expect(impatient).rejects.toMatchObject({ name: "TimeoutError" });
    user.resolve(tokenOf(client, { access_token: "A" }));
    expect((await patient).token).toBe("A");
  });
});
