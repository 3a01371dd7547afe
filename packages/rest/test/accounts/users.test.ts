import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sessionCollection } from "../../src/accounts/sessions/session.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts } from "./open-accounts.ts";

const access_token = masterKey;
const form = { email: "ada@example.com", password: "123456" };

describe("users", () => {
  it.each([
    ["nothing", {}],
    ["a wrong key", { access_token: "x".repeat(32) }],
    ["the beginning of the key", { access_token: masterKey.slice(0, -1) }],
    ["the key with a byte more", { access_token: `${masterKey}0` }],
  ])("are not created by who shows %s", async (_what, credentials) => {
    const api = await openAccounts();
    const refused = await api.send("POST", "/users", { form: { ...form, ...credentials } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer realm="api"/);
    expect((await api.send("POST", "/users", { form: { ...form, access_token } })).status).toBe(
      201,
    );
  });

  it("are not created with a user's or an admin's token", async () => {
    const api = await openAccounts();
    for (const role of ["user", "admin"] as const) {
      const { token } = await api.join(`${role}@example.com`, role);
      expect((await api.send("POST", "/users", { form, token })).status).toBe(403);
    }
  });

  it.each([
    [{ password: "123456" }, "email", "required"],
    [{ email: "ada", password: "123456" }, "email", "match"],
    [{ email: "ada@example.com" }, "password", "required"],
    [{ email: "ada@example.com", password: "12345" }, "password", "minlength"],
    [{ ...form, role: "root" }, "role", "enum"],
    [{ ...form, picture: "javascript:alert(1)" }, "picture", "match"],
    [{ ...form, name: ["a"] }, "name", "type"],
    [{ ...form, password: "tab\tinside" }, "password", "match"],
    [{ ...form, password: "del\u007Finside" }, "password", "match"],
    [{ ...form, name: "\u0000" }, "name", "invalid"],
    [{ ...form, password: "12345\ud800" }, "password", "invalid"],
  ])("are refused with the field that is wrong: %j", async (json, param, name) => {
    const api = await openAccounts();
    const refused = await api.send("POST", "/users", { json: { ...json, access_token } });
    expect(refused.json).toMatchObject({ status: 400, valid: false, param, name });
    expect(JSON.stringify(refused.json)).not.toContain("12345");
  });

  it("are created with name, picture and role derived, without password in the answer", async () => {
    const api = await openAccounts();
    const email = " Ada@Example.com ";
    const created = await api.send("POST", "/users", { form: { ...form, email, access_token } });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      id: expect.any(String),
      name: "ada",
      picture: expect.stringMatching(
        /^https:\/\/gravatar\.com\/avatar\/[0-9a-f]{64}\?d=identicon$/,
      ),
      email: "ada@example.com",
      role: "user",
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(created.headers.get("location")).toBe(`/users/${created.json.id}`);
  });

  it("have a separate email", async () => {
    const api = await openAccounts();
    await api.send("POST", "/users", { form: { ...form, access_token } });
    const email = " ADA@example.COM ";
    const refused = await api.send("POST", "/users", { form: { ...form, email, access_token } });
    expect(refused.status).toBe(409);
    expect(refused.json).toMatchObject({
      valid: false,
      param: "email",
      name: "unique",
      message: "email is already registered",
    });
  });

  it("have a separate email when many register it at once", async () => {
    const api = await openAccounts();
    const tries = Array.from({ length: 8 }, () =>
      api.send("POST", "/users", { form: { ...form, access_token } }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  it("are listed to admins only, never with their hash", async () => {
    const api = await openAccounts();
    const { token } = await api.join("user@example.com");
    const admin = await api.join("admin@example.com", "admin");
    expect((await api.send("GET", "/users")).status).toBe(401);
    expect((await api.send("GET", "/users", { token: masterKey })).status).toBe(401);
    expect((await api.send("GET", "/users", { token })).status).toBe(403);
    const { json } = await api.send("GET", "/users?sort=email", { token: admin.token });
    const users = json;
    expect(users.map(({ email }: { email: string }) => email)).toEqual([
      "admin@example.com",
      "user@example.com",
    ]);
    expect(JSON.stringify(json)).not.toMatch(/argon2|passwordHash|sessionVersion/);
    for (const query of ["sort=passwordHash", "fields=passwordHash", "fields=sessionVersion"]) {
      const refused = await api.send("GET", `/users?${query}`, { token: admin.token });
      expect(refused.status).toBe(400);
    }
    const hashSearch = await api.send("GET", "/users?q=argon2id", { token: admin.token });
    expect(hashSearch.json).toEqual([]);
  });

  it("see all of themselves, admins all of everyone, and others little", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const admin = await api.join("admin@example.com", "admin");
    const path = `/users/${ada.id}`;
    const all = ["id", "name", "picture", "email", "role", "createdAt"];
    const keys = async (at: string, token: string): Promise<string[]> =>
      Object.keys((await api.send("GET", at, { token })).json);
    expect((await api.send("GET", path)).status).toBe(401);
    // What is not set tells nothing of the address.
    const seen = await api.send("GET", path, { token: bob.token });
    expect(seen.json).toEqual({ id: ada.id, name: null, picture: null });
    expect(await keys(path, ada.token)).toEqual(all);
    expect(await keys("/users/me", ada.token)).toEqual(all);
    expect(await keys(path, admin.token)).toEqual(all);
    expect((await api.send("GET", "/users/nope", { token: bob.token })).status).toBe(404);
  });

  it("are nobody under me without a session, where everyone sees users", async () => {
    const api = await openAccounts({ user: defineUser({ access: { show: "public" } }) });
    const ada = await api.join("ada@example.com");
    expect((await api.send("GET", `/users/${ada.id}`)).status).toBe(200);
    expect((await api.send("GET", "/users/me", { token: ada.token })).json.id).toBe(ada.id);
    const refused = await api.send("GET", "/users/me");
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer realm="api"',
    ]);
    expect(api.openApi.paths["/users/{id}"]).toHaveProperty("get.responses.401");
  });

  it("change their own name and picture, and nothing else", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const path = `/users/${ada.id}`;
    const refused = await api.send("PUT", path, { form: { name: "x" }, token: bob.token });
    expect(refused.status).toBe(403);

    const json = { name: "Ada L.", role: "admin", email: "x@example.com", passwordHash: "x" };
    const changed = await api.send("PUT", "/users/me", { json, token: ada.token });
    expect(changed.json).toMatchObject({ name: "Ada L.", role: "user", email: "ada@example.com" });
    const reset = await api.send("PATCH", path, { json: { name: null }, token: ada.token });
    expect(reset.json).toMatchObject({ name: "ada", picture: changed.json.picture });

    const admin = await api.join("admin@example.com", "admin");
    const byAdmin = await api.send("PUT", path, { form: { name: "A" }, token: admin.token });
    expect(byAdmin.json.name).toBe("A");
  });

  it.each(["PUT", "PATCH"])("refuse text that is not kept in a %s", async (method) => {
    const api = await openAccounts();
    const { token } = await api.join("ada@example.com");
    for (const json of [{ name: "\u0000" }, { name: "\ud800" }, { picture: "https://a/\u0000" }]) {
      const refused = await api.send(method, "/users/me", { json, token });
      expect(refused.json).toMatchObject({ status: 400, name: "invalid" });
    }
    const refused = await api.send(method, "/users/me", { form: { name: "\0" }, token });
    expect(refused.json).toMatchObject({ status: 400, param: "name", name: "invalid" });
  });

  it("have an ETag under me that holds for the next change there", async () => {
    const api = await openAccounts();
    const { token } = await api.join("ada@example.com");
    const first = await api.send("PUT", "/users/me", { json: { name: "A" }, token });
    const headers = { "if-match": first.headers.get("etag") ?? "" };
    const again = { json: { name: "B" }, token, headers };
    expect((await api.send("PATCH", "/users/me", again)).status).toBe(200);
    expect((await api.send("PATCH", "/users/me", again)).status).toBe(412);
  });

  it("are asked for their password before a new one is looked at", async () => {
    const api = await openAccounts();
    const form = { password: "1" };
    expect((await api.send("PUT", "/users/me/password", { form })).status).toBe(401);
  });

  it("sign in with every password that was accepted", async () => {
    const api = await openAccounts();
    const passwords = ["colon:inside", "ünïcödé €", " blank ", "\u{1F511}-long-key"];
    for (const [index, password] of passwords.entries()) {
      const email = `user${index}@example.com`;
      const json = { email, password, access_token };
      expect((await api.send("POST", "/users", { json })).status).toBe(201);
      const basic = [email, password] as const;
      const session = await api.send("POST", "/auth", { basic, form: { access_token } });
      expect(session.status).toBe(201);
    }
  });

  it("change their own password with the old one, which ends their sessions", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const path = "/users/me/password";
    const next = { password: "654321" };
    const old = ["ada@example.com", "123456"] as const;

    expect((await api.send("PUT", path, { form: next, token: ada.token })).status).toBe(401);
    expect((await api.send("PUT", path, { form: next, basic: [old[0], "wrong!"] })).status).toBe(
      401,
    );
    const others = await api.send("PUT", `/users/${bob.id}/password`, { form: next, basic: old });
    expect(others.status).toBe(403);
    const nobody = await api.send("PUT", "/users/nope/password", { form: next, basic: old });
    expect(nobody.status).toBe(404);
    expect((await api.send("PUT", path, { form: { password: "1" }, basic: old })).status).toBe(400);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(200);

    expect((await api.send("PUT", path, { form: next, basic: old })).status).toBe(200);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(401);
    const signIn = (password: string) =>
      api.send("POST", "/auth", { basic: [old[0], password], form: { access_token } });
    expect((await signIn("123456")).status).toBe(401);
    expect((await signIn("654321")).status).toBe(201);
  });

  it("are deleted by admins only, and their tokens with them", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const admin = await api.join("admin@example.com", "admin");
    const path = `/users/${ada.id}`;
    expect((await api.send("DELETE", path, { token: ada.token })).status).toBe(403);
    expect((await api.send("DELETE", path, { form: { access_token } })).status).toBe(401);
    expect((await api.send("DELETE", path, { form: { access_token: admin.token } })).status).toBe(
      204,
    );
    expect((await api.send("DELETE", path, { token: admin.token })).status).toBe(404);
    const conditional = { token: admin.token, headers: { "if-match": '"9"' } };
    expect((await api.send("DELETE", "/users/me", conditional)).status).toBe(412);
    expect((await api.send("DELETE", "/users/me", { token: admin.token })).status).toBe(204);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(401);
    expect((await api.send("DELETE", "/auth", { token: ada.token })).status).toBe(401);
  });

  it("do not take over the answer that was meant for another", async () => {
    const api = await openAccounts();
    const ada = await api.join("ada@example.com");
    const bob = await api.join("bob@example.com");
    const mine = await api.send("GET", "/users/me", { token: ada.token });
    expect(mine.headers.get("cache-control")).toBe("private, no-cache");
    expect(mine.headers.get("vary")).toBe("Authorization");
    const headers = { "if-none-match": mine.headers.get("etag") ?? "" };
    expect((await api.send("GET", "/users/me", { token: ada.token, headers })).status).toBe(304);
    expect((await api.send("GET", "/users/me", { token: bob.token, headers })).status).toBe(200);

    const inUrl = await api.send("GET", `/users/me?access_token=${ada.token}`);
    expect(inUrl.headers.get("cache-control")).toBe("no-store");
    const byBob = await api.send("GET", `/users/${ada.id}`, { token: bob.token });
    const byAda = await api.send("GET", `/users/${ada.id}`, { token: ada.token });
    expect(byBob.headers.get("etag")).not.toBe(byAda.headers.get("etag"));
  });

  it("keep a new password, whatever comes in with the old one at the same time", async () => {
    const api = await openAccounts();
    const { token } = await api.join("ada@example.com");
    const change = (from: string, to: string) =>
      api.send("PUT", "/users/me/password", {
        form: { password: to },
        basic: ["ada@example.com", from],
      });
    const changes = await Promise.all([
      change("123456", "password-1"),
      change("123456", "password-2"),
      change("123456", "password-3"),
    ]);
    const statuses = changes.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
    const kept = `password-${statuses.indexOf(200) + 1}`;
    expect((await change(kept, "123456")).status).toBe(200);
    expect((await api.send("GET", "/users/me", { token })).status).toBe(401);
  });

  it("go back to the default picture with an empty field of a form", async () => {
    const api = await openAccounts();
    const { token } = await api.join("ada@example.com");
    const picture = "https://example.com/ada.png";
    const changed = await api.send("PUT", "/users/me", { form: { picture }, token });
    expect(changed.json.picture).toBe(picture);
    const reset = await api.send("PUT", "/users/me", { form: { picture: "" }, token });
    expect(reset.json.picture).toMatch(/gravatar/);
  });

  it.each([
    ["their identifier, not of their email", undefined, "id"],
    ["their email where the definition says so", "gravatar", "email"],
  ] as const)("have a default picture of %s", async (_what, picture, from) => {
    const api = await openAccounts({ user: defineUser({ picture }) });
    const { json } = await api.send("POST", "/users", { form: { ...form, access_token } });
    const hash = createHash("sha256").update(json[from]).digest("hex");
    expect(json.picture).toBe(`https://gravatar.com/avatar/${hash}?d=identicon`);
  });

  it("refuse a definition with another kind of picture", () => {
    const define = (): unknown => defineUser({ picture: "identicon" as "gravatar" });
    expect(define).toThrow('picture of users must be "gravatar", got "identicon"');
  });
});

describe("a user who goes with what it belongs to", () => {
  const team: Resource = defineResource({
    name: "team",
    path: "/teams",
    schema: z.object({ title: z.string() }),
    access: { create: "public", remove: "public" },
  });
  const user = defineUser({
    schema: z.object({ team: z.string().optional() }),
    relations: { team: { to: () => team, onDelete: "cascade" } },
  });

  it("loses everything it could sign in with, in the same transaction", async () => {
    const api = await openAccounts({
      user,
      routes: resourceRoutes(team, createResourceController(team)),
    });
    const { json } = await api.send("POST", "/teams", { json: { title: "A" } });
    const ada = await api.join("ada@example.com");
    const joined = { json: { team: json.id }, token: ada.token };
    expect((await api.send("PATCH", "/users/me", joined)).status).toBe(200);
    expect((await api.send("DELETE", `/teams/${json.id}`)).status).toBe(204);
    expect(await api.store.collection(sessionCollection).count()).toBe(0);
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(401);
  });

  it("stays, and can sign in, when that is not removed", async () => {
    let removed = 0;
    const refusing = defineUser({
      schema: z.object({ team: z.string().optional() }),
      relations: { team: { to: () => team, onDelete: "cascade" } },
      hooks: {
        beforeRemove() {
          removed += 1;
          if (removed === 2) throw new Error("not now");
        },
      },
    });
    const api = await openAccounts({
      user: refusing,
      routes: resourceRoutes(team, createResourceController(team)),
    });
    const { json } = await api.send("POST", "/teams", { json: { title: "A" } });
    const members = [await api.join("ada@example.com"), await api.join("bob@example.com")];
    for (const { token } of members) {
      await api.send("PATCH", "/users/me", { json: { team: json.id }, token });
    }
    expect((await api.send("DELETE", `/teams/${json.id}`)).status).toBe(500);
    expect(removed).toBe(2);
    for (const { token } of members) {
      expect((await api.send("GET", "/users/me", { token })).status).toBe(200);
    }
  });
});
