import { createContext } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { issueToken, passwordResets } from "../../src/accounts/mails/mailed-tokens.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password, type Sent, type TestAccounts } from "./open-accounts.ts";

const user = defineUser({ schema: z.object({ city: z.string().optional() }) });

/**
 * Everything of a user that clients do not set; each value differs from that of every user of the
 * tests.
 */
const forbidden: Readonly<Record<string, unknown>> = {
  role: "admin",
  verified: true,
  unconfirmed: false,
  emailVerified: true,
  passwordHash: "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
  password: "of the attacker",
  sessionVersion: 99,
  id: "forged",
  _id: "forged",
  user: "forged",
  owner: "forged",
  version: 99,
  email: "forged@example.com",
  createdAt: "2000-01-01T00:00:00.000Z",
  updatedAt: "2000-01-01T00:00:00.000Z",
  session: "forged",
  scopes: ["*:write"],
  isMaster: true,
};

const polluting = ["__proto__", "constructor", "prototype"];

async function storedUser({ context, store }: TestAccounts, id: string): Promise<unknown> {
  const {
    updatedAt: _updatedAt,
    version: _version,
    ...kept
  } = (await store.collection(context.user.collection).get(id)) ?? expect.fail();
  return kept;
}

/** Ways in which a field is smuggled into a body; `nested` is JSON Merge Patch of an object. */
function smuggled(field: string, value: unknown): readonly (readonly [string, string])[] {
  const text = JSON.stringify(value);
  return [
    ["application/json", `{"city":"x",${JSON.stringify(field)}:${text}}`],
    ["application/json", `{"city":"x","user":{${JSON.stringify(field)}:${text}}}`],
    ["application/json", `{"city":"x","__proto__":{${JSON.stringify(field)}:${text}}}`],
    [
      "application/json",
      `{"city":"x","constructor":{"prototype":{${JSON.stringify(field)}:${text}}}}`,
    ],
    ["application/merge-patch+json", `{"city":"x",${JSON.stringify(field)}:${text}}`],
    ["application/x-www-form-urlencoded", `city=x&${field}=${encodeURIComponent(String(value))}`],
    ["application/x-www-form-urlencoded", `city=x&__proto__[${field}]=1&user[${field}]=1`],
  ];
}

async function sendRaw(
  { handler }: TestAccounts,
  method: string,
  path: string,
  { body, token, type }: { readonly body: string; readonly token?: string; readonly type: string },
): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { "content-type": type, ...authorization };
  const request = new Request(new URL(path, "http://localhost"), { method, headers, body });
  return handler(request, createContext(request));
}

describe("a field that clients do not set", () => {
  it("stays what it is by PUT and PATCH, however it is sent", async () => {
    const api = await openAccounts({ user, signIn: "public" });
    const ada = await api.join("ada@example.com");
    await api.send("PATCH", "/users/me", { token: ada.token, json: { city: "x" } });
    const before = await storedUser(api, ada.id);
    for (const [field, value] of Object.entries(forbidden)) {
      for (const [type, body] of smuggled(field, value)) {
        for (const method of ["PUT", "PATCH"]) {
          const sent = { body, token: ada.token, type };
          const { status } = await sendRaw(api, method, "/users/me", sent);
          expect([200, 400, 415]).toContain(status);
          expect([body, await storedUser(api, ada.id)]).toEqual([body, before]);
        }
      }
      expect(Reflect.get({}, field)).toBe(undefined);
    }
    expect((await api.signIn(ada.email)).status).toBe(201);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(200);
  });

  it("is not set by a sign-up, and a role is refused", async () => {
    const api = await openAccounts({ user, signUp: "public", signIn: "public", hasMails: false });
    const { role, ...all } = forbidden;
    const fields = { city: "x", password };
    const other = JSON.stringify(forbidden);
    const form = {
      ...fields,
      verified: "true",
      sessionVersion: "99",
      passwordHash: "x",
      id: "forged",
    };
    const bodies = [
      JSON.stringify({ ...all, ...fields, email: "a@example.com" }),
      `{"__proto__":${other},${JSON.stringify({ ...fields, email: "b@example.com" }).slice(1)}`,
      JSON.stringify({ ...fields, email: "c@example.com", user: forbidden, owner: forbidden }),
      String(new URLSearchParams({ ...form, email: "d@example.com", "user[role]": "admin" })),
    ];
    for (const body of bodies) {
      const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
      expect([201, 400]).toContain((await sendRaw(api, "POST", "/users", { body, type })).status);
    }
    const json = { ...fields, email: "e@example.com", role };
    expect((await api.send("POST", "/users", { json })).status).toBe(403);
    const made = await api.store.collection(user.collection).find({});
    expect(made.length).toBeGreaterThan(0);
    for (const { createdAt, email, id, passwordHash, updatedAt, ...others } of made) {
      expect(others).toEqual({
        city: "x",
        role: "user",
        sessionVersion: 1,
        unconfirmed: true,
        version: 1,
      });
      expect(email).not.toBe(forbidden["email"]);
      expect(id).not.toBe("forged");
      expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456/);
      expect([createdAt, updatedAt]).not.toContain(forbidden["createdAt"]);
      expect((await api.signIn(email)).status).toBe(201);
    }
  });

  it.each(polluting)("%s pollutes nothing", async (field) => {
    const api = await openAccounts({ user, signIn: "public" });
    const ada = await api.join("ada@example.com");
    for (const method of ["PUT", "PATCH"]) {
      const body = `{"${field}":{"role":"admin","polluted":true}}`;
      await sendRaw(api, method, "/users/me", { body, token: ada.token, type: "application/json" });
    }
    expect(Reflect.get({}, "polluted")).toBe(undefined);
    const { json } = await api.send("GET", "/users/me", { token: ada.token });
    expect(json.role).toBe("user");
    expect(json).not.toHaveProperty("polluted");
  });

  it("is not changed by several users at once, since users have no bulk route", async () => {
    const api = await openAccounts({ user, signIn: "public" });
    const ada = await api.join("ada@example.com");
    const operations = [{ op: "patch", id: ada.id, body: { role: "admin" } }];
    const sent: Sent = { token: ada.token, json: { operations } };
    expect([404, 405]).toContain((await api.send("POST", "/users/bulk", sent)).status);
  });

  it("is not set by what changes a password, an address or a name of a key", async () => {
    const api = await openAccounts({ user, signIn: "public" });
    const ada = await api.join("ada@example.com");
    const basic = [ada.email, password] as const;
    const token = await issueToken(
      api.context,
      passwordResets,
      (await api.store.collection(user.collection).get(ada.id)) ?? expect.fail(),
    );
    await api.send("PUT", `/password-resets/${token}`, { json: { ...forbidden, password } });
    await api.send("PUT", "/users/me/password", { basic, json: { ...forbidden, password } });
    expect(await storedUser(api, ada.id)).toMatchObject({
      id: ada.id,
      role: "user",
      email: ada.email,
      verified: true,
      sessionVersion: 3,
    });
    const { token: next } = (await api.signIn(ada.email)).json;
    const bob = await api.create("bob@example.com");
    const key = await api.send("POST", "/users/me/keys", {
      token: next,
      json: { name: "n", scopes: ["users:read"], user: bob, hash: "h", usedAt: 1 },
    });
    expect(key.status).toBe(201);
    const me = await api.send("GET", "/users/me", { token: key.json.key });
    expect(me.json.id).toBe(ada.id);
  });
});

/** Makes a key of all scopes, and what its owner has. */
async function withKey(role: "admin" | "user", scopes = ["*:read", "*:write"]) {
  const api = await openAccounts({ user, signUp: "public", signIn: "public", hasMails: false });
  const owner = await api.join("owner@example.com", role);
  const bob = await api.join("bob@example.com");
  const json = { name: "n", scopes };
  const made = await api.send("POST", "/users/me/keys", { token: owner.token, json });
  expect(made.status).toBe(201);
  return { api, bob, key: made.json.key as string, owner };
}

describe("an API key", () => {
  it.each(["admin", "user"] as const)("of %s makes no admin", async (role) => {
    const { api, bob, key, owner } = await withKey(role);
    const json = { email: "eve@example.com", password, role: "admin" };
    for (const [method, path, body] of [
      ["POST", "/users", json],
      ["PUT", `/users/${bob.id}/role`, { role: "admin" }],
      ["PUT", `/users/${owner.id}/role`, { role: "admin" }],
      ["PUT", "/users/me/role", { role: "admin" }],
    ] as const) {
      const { status } = await api.send(method, path, { token: key, json: body });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
    for (const id of [owner.id, bob.id]) {
      const json = { role: "admin" };
      await api.send("PATCH", `/users/${id}`, { token: key, json });
    }
    const admins = await api.store.collection(user.collection).find({ where: { role: "admin" } });
    expect(admins.map(({ id }) => id)).toEqual(role === "admin" ? [owner.id] : []);
  });

  it.each(["admin", "user"] as const)(
    "of %s touches nothing that its user or another one signs in with",
    async (role) => {
      const { api, bob, key, owner } = await withKey(role);
      for (const id of ["me", owner.id, bob.id]) {
        for (const [method, path, body] of [
          ["GET", "sessions"],
          ["DELETE", "sessions"],
          ["DELETE", "sessions/x"],
          ["GET", "keys"],
          ["POST", "keys", { name: "n", scopes: ["*:write"] }],
          ["DELETE", "keys/x"],
          ["GET", "passkeys"],
          ["DELETE", "passkeys/x"],
          ["DELETE", "totp"],
        ] as const) {
          const sent: Sent = { token: key, ...(body === undefined ? {} : { json: body }) };
          const { status } = await api.send(method, `/users/${id}/${path}`, sent);
          expect([method, path, status]).toEqual([method, path, 403]);
        }
        for (const [method, path, body] of [
          ["PUT", "password", { password: "another one" }],
          ["POST", "totp", {}],
          ["POST", "email", { email: "eve@example.com", link: "http://localhost/" }],
        ] as const) {
          const { status } = await api.send(method, `/users/${id}/${path}`, {
            token: key,
            json: body,
          });
          expect([method, path, status]).toEqual([method, path, 401]);
        }
      }
      for (const one of [owner, bob]) {
        expect((await api.send("GET", "/users/me", { token: one.token })).status).toBe(200);
        expect((await api.signIn(one.email)).status).toBe(201);
      }
    },
  );

  it("to write users changes no other one unless its user may", async () => {
    const { api, bob, key, owner } = await withKey("user", ["users:write"]);
    const json = { name: "of the attacker" };
    for (const method of ["PUT", "PATCH"]) {
      const other = await api.send(method, `/users/${bob.id}`, { token: key, json });
      expect(other.status).toBe(403);
    }
    expect((await api.send("DELETE", `/users/${bob.id}`, { token: key })).status).toBe(403);
    expect((await api.send("GET", `/users/${owner.id}`, { token: key })).status).toBe(403);
    expect((await api.send("PATCH", "/users/me", { token: key, json })).status).toBe(200);
  });

  it.each(["users:read", "notes:write", "users*:write", "user:write"])(
    "of %s writes no users",
    async (scope) => {
      const api = await openAccounts({ user, signIn: "public" });
      const ada = await api.join("ada@example.com");
      const json = { name: "n", scopes: [scope] };
      const made = await api.send("POST", "/users/me/keys", { token: ada.token, json });
      if (made.status === 400) return;
      const sent = { token: made.json.key, json: { name: "x" } };
      expect((await api.send("PATCH", "/users/me", sent)).status).toBe(403);
    },
  );

  it("in the place of the master key is none", async () => {
    const { key } = await withKey("admin");
    const basic = ["bob@example.com", password] as const;
    const master = await openAccounts({ user });
    await master.create("bob@example.com");
    const asMaster = await master.send("POST", `/auth?access_token=${key}`, { basic });
    expect(asMaster.status).toBe(401);
    expect((await master.send("POST", `/auth?access_token=${masterKey}`, { basic })).status).toBe(
      201,
    );
  });
});
