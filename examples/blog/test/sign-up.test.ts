import { openStore } from "@fetchwork/documents";
import { createContext } from "@fetchwork/http";
import { createApi, createAttemptLimiter, createAuthentication } from "@fetchwork/rest";
import { describe, expect, it, onTestFinished } from "vitest";
import { userRoutes } from "../src/api/user/index.ts";
import { user } from "../src/api/user/model.ts";
import { createAccounts } from "../src/services/accounts.ts";
import { jwtSecret, masterKey } from "./api-client.ts";

/** The users of the blog after the one change that lets everyone sign up: another rule. */
async function openSignUp(limit = 100) {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const accounts = createAccounts(store);
  const attempts = createAttemptLimiter({ limit });
  const authentication = createAuthentication({ masterKey, jwtSecret, accounts, attempts });
  const routes = userRoutes.map((route) =>
    route.operation === "createUser" ? { ...route, access: "public" as const } : route,
  );
  const { handler } = createApi({ title: "T", version: "1", routes, store, authentication });
  let count = 0;

  async function signUp(
    fields: Readonly<Record<string, string>>,
    { ip = "192.0.2.1", token }: { readonly ip?: string; readonly token?: string } = {},
  ) {
    const form = { email: `user${(count += 1)}@example.com`, password: "123456", ...fields };
    const request = new Request("http://localhost/users", {
      method: "POST",
      body: new URLSearchParams(form),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    const response = await handler(request, Object.assign(createContext(request), { ip }));
    return { status: response.status, response, json: await response.json() };
  }

  async function admin(): Promise<string> {
    const role = "admin" as const;
    const fields = { email: "root@example.com", name: "Root", picture: "", role };
    const stored = await store
      .collection(user.collection)
      .insert({ ...fields, passwordHash: "", sessionVersion: 1 });
    return authentication.tokens.issue(stored);
  }

  return { admin, signUp, store };
}

describe("a sign-up that is open to everyone", () => {
  it("makes users, and shows each one itself", async () => {
    const { signUp } = await openSignUp();
    const { status, json } = await signUp({});
    expect(status).toBe(201);
    expect(json).toMatchObject({ email: "user1@example.com", role: "user" });
  });

  it("makes no admins", async () => {
    const { signUp, store } = await openSignUp();
    const refused = await signUp({ role: "admin" });
    expect(refused.status).toBe(403);
    const byWrongKey = await signUp({ role: "admin" }, { token: "x".repeat(32) });
    expect(byWrongKey.status).toBe(403);
    expect(await store.collection(user.collection).count()).toBe(0);
  });

  it("lets the master key and admins make admins", async () => {
    const { admin, signUp } = await openSignUp();
    for (const token of [masterKey, await admin()]) {
      const made = await signUp({ role: "admin" }, { token });
      expect([made.status, made.json.role]).toEqual([201, "admin"]);
    }
  });

  it("is limited for each network, and not for the master key", async () => {
    const { signUp } = await openSignUp(3);
    for (let count = 0; count < 3; count += 1) {
      expect((await signUp({}, { ip: `2001:db8::${count}` })).status).toBe(201);
    }
    const refused = await signUp({}, { ip: "2001:db8::f" });
    expect(refused.status).toBe(429);
    expect(Number(refused.response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await signUp({}, { ip: "2001:db8:0:1::1" })).status).toBe(201);
    expect((await signUp({}, { ip: "2001:db8::1", token: masterKey })).status).toBe(201);
  });
});
