import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import type { Answer } from "../as-users.ts";
import { openAccounts, password, type SignedIn, type TestAccounts } from "./open-accounts.ts";

/** Lets time pass for what asks `Date`. */
function later(milliseconds: number): void {
  vi.useFakeTimers({ now: Date.now() + milliseconds, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

function refresh({ send }: TestAccounts, refreshToken: string): Promise<Answer> {
  return send("POST", "/auth/refresh", { json: { refreshToken } });
}

async function isLive({ send }: TestAccounts, token: string): Promise<boolean> {
  return (await send("GET", "/users/me", { token })).status === 200;
}

describe("a refresh token that two tabs have", () => {
  it("has the same successor for 30 seconds, and ends the session after it", async () => {
    const api = await openAccounts();
    const { refreshToken } = await api.join("ada@example.com");
    const first = await refresh(api, refreshToken);
    later(29_000);
    const repeated = await refresh(api, refreshToken);
    expect([repeated.status, repeated.json.refreshToken]).toEqual([200, first.json.refreshToken]);
    expect(await isLive(api, repeated.json.token)).toBe(true);
    later(2_000);
    expect((await refresh(api, refreshToken)).status).toBe(401);
    expect((await refresh(api, first.json.refreshToken)).status).toBe(401);
  });

  it("ends the session of its family alone when it is stolen", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const phone = (await api.signIn(ada.email)).json;
    const bob = await api.join("bob@example.com");
    const next = await refresh(api, ada.refreshToken);
    later(31_000);
    expect((await refresh(api, ada.refreshToken)).status).toBe(401);
    expect(await isLive(api, next.json.token)).toBe(false);
    for (const other of [phone, bob]) {
      expect(await isLive(api, other.token)).toBe(true);
      expect((await refresh(api, other.refreshToken)).status).toBe(200);
    }
  });

  it("lets the thief who refreshes first go no further than the next refresh of its owner", async () => {
    const api = await openAccounts();
    const { refreshToken } = await api.join("ada@example.com");
    const stolen = (await refresh(api, refreshToken)).json;
    later(31_000);
    const further = (await refresh(api, stolen.refreshToken)).json;
    expect((await refresh(api, refreshToken)).status).toBe(401);
    expect(await isLive(api, further.token)).toBe(false);
    expect((await refresh(api, further.refreshToken)).status).toBe(401);
  });
});

/** Everything that ends the sessions of a user, and must not be outrun by a refresh. */
const ends: readonly (readonly [
  string,
  (api: TestAccounts, ada: SignedIn, root: SignedIn) => Promise<Answer>,
])[] = [
  ["signing out", ({ send }, { token }) => send("DELETE", "/auth", { token })],
  [
    "signing out of this session",
    ({ send }, { token }) => send("DELETE", "/auth/cookie", { token }),
  ],
  [
    "another password",
    ({ send }, { email }) =>
      send("PUT", "/users/me/password", {
        basic: [email, password],
        json: { password: "another one" },
      }),
  ],
  [
    "another role",
    ({ send }, { id }, { token }) =>
      send("PUT", `/users/${id}/role`, { token, json: { role: "admin" } }),
  ],
  [
    "the removal of the user",
    ({ send }, { id }, { token }) => send("DELETE", `/users/${id}`, { token }),
  ],
];

describe("a refresh at the same time as", () => {
  it.each(ends)("%s leaves no live session", async (_what, end) => {
    const api = await openAccounts();
    const root = await api.join("root@example.com", "admin");
    for (let round = 0; round < 4; round += 1) {
      const ada = await api.join(`ada${round}@example.com`);
      const refreshes: Promise<Answer>[] = [];
      const begin = (): void => void refreshes.push(refresh(api, ada.refreshToken));
      const timer = setInterval(begin, 1);
      begin();
      const ended = await end(api, ada, root);
      clearInterval(timer);
      begin();
      expect(ended.status).toBeLessThan(300);
      for (const { json, status } of await Promise.all(refreshes)) {
        expect([200, 401]).toContain(status);
        if (status === 401) continue;
        expect(await isLive(api, json.token)).toBe(false);
        expect((await refresh(api, json.refreshToken)).status).toBe(401);
      }
      const where = { user: ada.id };
      const account = await api.store.collection(api.context.user.collection).get(ada.id);
      const { sessionVersion = 0 } = account ?? {};
      const left = await api.store.collection(sessionCollection).find({ where });
      expect(left.filter((one) => one.sessionVersion === sessionVersion)).toEqual([]);
    }
    expect(api.reports).toEqual([]);
  });
});
