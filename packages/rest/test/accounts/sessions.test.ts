import { describe, expect, it, vi, onTestFinished } from "vitest";
import { createRefreshTokens } from "../../src/accounts/sessions/refresh-token.ts";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password } from "./open-accounts.ts";

/** Lets time pass for what asks `Date`. */
function later(milliseconds: number): void {
  vi.useFakeTimers({ now: Date.now() + milliseconds, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("signing in", () => {
  it("answers with a token, its validity, a refresh token and the user", async () => {
    const { create, signIn } = await openAccounts();
    const id = await create("ada@example.com");
    const { headers, json, status } = await signIn("ada@example.com");
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(json).toMatchObject({ expiresIn: 86_400, user: { id, email: "ada@example.com" } });
    expect(json.refreshToken).toMatch(/^fwr_/);
  });

  it("needs the master key, unless sign-in is public", async () => {
    const { create, send } = await openAccounts();
    await create("ada@example.com");
    const refused = await send("POST", "/auth", { basic: ["ada@example.com", password] });
    expect(refused.status).toBe(401);
    const open = await openAccounts({ signIn: "public" });
    await open.create("ada@example.com");
    expect((await open.signIn("ada@example.com")).status).toBe(201);
    expect((await open.signIn("ada@example.com", { basic: ["ada@example.com", "x"] })).status).toBe(
      401,
    );
  });

  it("ends the sessions that were used longest ago beyond 100", async () => {
    const { context, join, store } = await openAccounts();
    const ada = await join("ada@example.com");
    const account = { id: ada.id, role: "user", passwordHash: "", sessionVersion: 1 };
    const client = { address: undefined, agent: undefined, method: "password" } as const;
    for (let count = 0; count < 105; count += 1) await context.sessions.begin(account, client);
    expect(await store.collection(sessionCollection).count()).toBe(100);
  });
});

describe("a refresh token", () => {
  it("continues the session, and another one takes its place", async () => {
    const { join, send } = await openAccounts();
    const { refreshToken } = await join("ada@example.com");
    const first = await send("POST", "/auth/refresh", { json: { refreshToken } });
    expect(first.status).toBe(200);
    expect(first.json.refreshToken).not.toBe(refreshToken);
    const me = await send("GET", "/users/me", { token: first.json.token });
    expect(me.json.email).toBe("ada@example.com");
    const second = await send("POST", "/auth/refresh", {
      json: { refreshToken: first.json.refreshToken },
    });
    expect(second.status).toBe(200);
  });

  it("may be repeated within 30 seconds, as two windows do, with the same result", async () => {
    const { join, send } = await openAccounts();
    const { refreshToken } = await join("ada@example.com");
    const both = await Promise.all(
      [1, 2, 3].map(() => send("POST", "/auth/refresh", { json: { refreshToken } })),
    );
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(both.map(({ json }) => json.refreshToken)).size).toBe(1);
  });

  it("ends the session when it is used again later: somebody has copied it", async () => {
    const { join, reports, send } = await openAccounts();
    const { refreshToken, token } = await join("ada@example.com");
    const next = await send("POST", "/auth/refresh", { json: { refreshToken } });
    later(31_000);
    expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(401);
    expect(String(reports[0])).toMatch(/used twice/);
    const stolen = { refreshToken: next.json.refreshToken };
    expect((await send("POST", "/auth/refresh", { json: stolen })).status).toBe(401);
    expect((await send("GET", "/users/me", { token })).status).toBe(401);
    expect((await send("GET", "/users/me", { token: next.json.token })).status).toBe(401);
  });

  it("of an earlier turn than the last ends the session even within 30 seconds", async () => {
    const { join, send } = await openAccounts();
    const { refreshToken } = await join("ada@example.com");
    const first = await send("POST", "/auth/refresh", { json: { refreshToken } });
    await send("POST", "/auth/refresh", { json: { refreshToken: first.json.refreshToken } });
    expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(401);
    const last = await send("POST", "/auth/refresh", {
      json: { refreshToken: first.json.refreshToken },
    });
    expect(last.status).toBe(401);
  });

  it("holds no longer than the session", async () => {
    const { join, send } = await openAccounts();
    const { refreshToken } = await join("ada@example.com");
    later(2_592_001_000);
    expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(401);
  });

  it.each([
    ["", 401],
    ["fwr_x.0.x", 401],
    ["a".repeat(301), 400],
    [7, 400],
    [undefined, 400],
  ])("%s is refused", async (refreshToken, status) => {
    const { send } = await openAccounts();
    expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(status);
  });

  it("of another key, session or generation is refused", async () => {
    const { join, send } = await openAccounts();
    const { refreshToken } = await join("ada@example.com");
    const [session = "", , signature = ""] = refreshToken.slice(4).split(".");
    const foreign = createRefreshTokens(Buffer.alloc(32, 1)).make({ session, generation: 0 });
    for (const forged of [foreign, `fwr_${session}.1.${signature}`, `fwr_x.0.${signature}`]) {
      const { status } = await send("POST", "/auth/refresh", { json: { refreshToken: forged } });
      expect(status).toBe(401);
    }
    expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(200);
  });

  it("ends with a new password, a new role, and signing out", async () => {
    const { join, send } = await openAccounts();
    const admin = await join("root@example.com", "admin");
    const ends = [
      (one: { id: string; email: string; token: string }) =>
        send("PUT", `/users/${one.id}/password`, {
          basic: [one.email, password],
          json: { password: "another one" },
        }),
      (one: { id: string }) =>
        send("PUT", `/users/${one.id}/role`, { token: admin.token, json: { role: "admin" } }),
      (one: { token: string }) => send("DELETE", "/auth", { token: one.token }),
      (one: { id: string }) => send("DELETE", `/users/${one.id}`, { token: admin.token }),
      (one: { id: string }) => send("DELETE", `/users/${one.id}/sessions`, { token: admin.token }),
    ];
    for (const [index, end] of ends.entries()) {
      const one = await join(`user${index}@example.com`);
      expect((await end(one)).status).toBeLessThan(300);
      const { refreshToken } = one;
      expect((await send("POST", "/auth/refresh", { json: { refreshToken } })).status).toBe(401);
      expect((await send("GET", "/users/me", { token: one.token })).status).toBe(401);
    }
  });
});

describe("the sessions of a user", () => {
  it("are listed with where they are used, and ended one by one", async () => {
    const { join, send, signIn } = await openAccounts();
    const ada = await join("ada@example.com");
    const other = await signIn("ada@example.com", {
      headers: { "user-agent": "Phone/1" },
      ip: "192.0.2.9",
    });
    const { json } = await send("GET", "/users/me/sessions", { token: ada.token });
    expect(json).toHaveLength(2);
    const phone = json.find(({ agent }: { agent: string }) => agent === "Phone/1");
    expect(phone).toMatchObject({ method: "password", address: "192.0.2.9", isCurrent: false });
    expect(json.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toHaveLength(1);
    const ended = await send("DELETE", `/users/me/sessions/${phone.id}`, { token: ada.token });
    expect(ended.status).toBe(204);
    expect((await send("GET", "/users/me", { token: other.json.token })).status).toBe(401);
    expect((await send("GET", "/users/me", { token: ada.token })).status).toBe(200);
    const again = await send("DELETE", `/users/me/sessions/${phone.id}`, { token: ada.token });
    expect(again.status).toBe(404);
  });

  it("are neither shown to other users nor ended by them, but by admins", async () => {
    const { join, send } = await openAccounts();
    const ada = await join("ada@example.com");
    const bob = await join("bob@example.com");
    const root = await join("root@example.com", "admin");
    const [session] = (await send("GET", "/users/me/sessions", { token: ada.token })).json;
    for (const [method, path] of [
      ["GET", `/users/${ada.id}/sessions`],
      ["DELETE", `/users/${ada.id}/sessions`],
      ["DELETE", `/users/${ada.id}/sessions/${session.id}`],
    ] as const) {
      expect((await send(method, path)).status).toBe(401);
      expect((await send(method, path, { token: bob.token })).status).toBe(403);
      expect((await send(method, path, { token: masterKey })).status).toBe(401);
    }
    // Users do not find the sessions of others.
    const foreign = await send("DELETE", `/users/me/sessions/${session.id}`, { token: bob.token });
    expect(foreign.status).toBe(404);
    expect(
      (await send("GET", `/users/${ada.id}/sessions`, { token: root.token })).json,
    ).toHaveLength(1);
    expect((await send("DELETE", `/users/${ada.id}/sessions`, { token: root.token })).status).toBe(
      204,
    );
    expect((await send("GET", "/users/me", { token: ada.token })).status).toBe(401);
  });
});

describe("a session of a page of ours", () => {
  const fromPage = { "sec-fetch-site": "same-origin" };
  const basic = ["root@example.com", password] as const;

  it("is kept in a cookie that only requests of the same origin use", async () => {
    const { create, send } = await openAccounts();
    await create("root@example.com", "admin");
    const { headers, json, status } = await send("POST", "/auth/cookie", {
      basic,
      headers: fromPage,
    });
    expect([status, json.token, json.user.role]).toEqual([201, undefined, "admin"]);
    const set = headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^session=eyJ.*; Path=\/; HttpOnly; SameSite=Strict; Max-Age=86400$/);
    const cookie = set.split(";")[0] ?? "";
    const asked = (more: Readonly<Record<string, string>>, method = "GET", path = "/users") =>
      send(method, path, { headers: { cookie, ...more } });
    expect((await asked(fromPage)).status).toBe(200);
    expect((await asked({ "sec-fetch-site": "none" })).status).toBe(200);
    for (const site of ["cross-site", "same-site"]) {
      expect((await asked({ "sec-fetch-site": site })).status).toBe(401);
    }
    const other = { origin: "http://evil.example" };
    expect((await asked(other, "DELETE", "/auth/cookie")).status).toBe(401);
    expect((await asked({}, "DELETE", "/auth/cookie")).status).toBe(401);
    expect((await asked({ "sec-fetch-site": "none" }, "DELETE", "/auth/cookie")).status).toBe(401);
    const out = await asked({ origin: "http://localhost" }, "DELETE", "/auth/cookie");
    expect([out.status, out.headers.get("set-cookie")]).toEqual([
      204,
      "session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
    ]);
    expect((await asked(fromPage)).status).toBe(401);
  });

  it("is for every user where everyone may sign in", async () => {
    const { create, send } = await openAccounts({ signIn: "public" });
    await create("ada@example.com");
    const ada = ["ada@example.com", password] as const;
    const foreign = { "sec-fetch-site": "same-site" };
    expect((await send("POST", "/auth/cookie", { basic: ada, headers: foreign })).status).toBe(403);
    const { headers, json, status } = await send("POST", "/auth/cookie", {
      basic: ada,
      headers: fromPage,
    });
    expect([status, json.token, json.user.email]).toEqual([201, undefined, "ada@example.com"]);
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const me = await send("GET", "/users/me", { headers: { cookie, ...fromPage } });
    expect([me.status, me.json.email]).toEqual([200, "ada@example.com"]);
  });

  it("is for admins where sign-in takes the master key, on a page of this origin", async () => {
    const { create, send } = await openAccounts();
    await create("root@example.com", "admin");
    await create("ada@example.com");
    const user = ["ada@example.com", password] as const;
    expect((await send("POST", "/auth/cookie", { basic: user, headers: fromPage })).status).toBe(
      403,
    );
    const foreign = { "sec-fetch-site": "cross-site" };
    expect((await send("POST", "/auth/cookie", { basic, headers: foreign })).status).toBe(403);
    expect((await send("POST", "/auth/cookie", { basic })).status).toBe(403);
  });

  it("has a cookie of this host alone where the API is reached by HTTPS", async () => {
    const { create, send } = await openAccounts({ settings: { origin: "https://example.com" } });
    await create("root@example.com", "admin");
    const { headers } = await send("POST", "/auth/cookie", { basic, headers: fromPage });
    expect(headers.get("set-cookie")).toMatch(/^__Host-session=.*; Path=\/; .*Secure/);
  });
});
