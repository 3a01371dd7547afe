import { describe, expect, it, onTestFinished, vi } from "vitest";
import { apiKeyCollection } from "../../src/accounts/keys/api-key.ts";
import { defineRoute } from "../../src/plan/route.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { masterKey } from "../api-client.ts";
import { z } from "zod";
import { openAccounts, password } from "./open-accounts.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  owner: "author",
  access: { list: "user", show: "public", create: "user", update: "owner", remove: "owner" },
});
const access = { list: "user", show: "user", create: "user" } as const;
const team = defineResource({
  name: "team",
  path: "/teams",
  schema: z.object({ title: z.string() }),
  access,
});
const board = defineResource({
  name: "board",
  path: "/boards",
  schema: z.object({ title: z.string(), plan: z.string() }),
  fields: { plan: { read: "user" } },
  access: { list: "public", show: "public", create: "user" },
});
const task: Resource = defineResource({
  name: "task",
  path: "/tasks",
  schema: z.object({ team: z.string(), board: z.string() }),
  access,
  relations: {
    team: { to: () => team },
    board: { to: () => board },
    remarks: { to: () => remark, inverse: "task" },
  },
});
const remark: Resource = defineResource({
  name: "remark",
  path: "/remarks",
  schema: z.object({ task: z.string(), text: z.string() }),
  access,
  relations: { task: { to: (): Resource => task } },
});
const draft = defineResource({
  name: "draft",
  path: "/drafts",
  schema: z.object({ text: z.string() }),
  access: {
    list: "public",
    show: ({ caller }) => caller !== undefined,
    create: ({ caller }) => caller !== undefined,
    update: ({ caller }) => caller !== undefined,
  },
});
const related = [team, task, board, remark, draft].flatMap((each) =>
  resourceRoutes(each, createResourceController(each)),
);
const routes = [
  ...resourceRoutes(note, createResourceController(note)),
  ...related,
  defineRoute({
    method: "GET",
    path: "/whoami",
    operation: "whoAmI",
    summary: "Says who asks",
    tag: "t",
    access: "public",
    responses: { 200: { description: "Who" } },
    handle: ({ user }) => Response.json({ id: user?.id ?? null }),
  }),
];

async function withKey(scopes: readonly string[], more: object = {}) {
  const opened = await openAccounts({ routes });
  const ada = await opened.join("ada@example.com");
  const { json, status } = await opened.send("POST", "/users/me/keys", {
    token: ada.token,
    json: { name: "CI", scopes, ...more },
  });
  expect(status).toBe(201);
  return { ...opened, ada, key: json.key as string, made: json };
}

describe("an API key", () => {
  it("acts for its user in what it is limited to", async () => {
    const { ada, key, send } = await withKey(["notes:read", "whoami:read"]);
    expect((await send("GET", "/notes", { token: key })).status).toBe(200);
    expect((await send("GET", "/whoami", { token: key })).json.id).toBe(ada.id);
    const refused = await send("POST", "/notes", { token: key, json: { text: "t" } });
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toBe(
      'Bearer realm="api", error="insufficient_scope", scope="notes:write"',
    );
    expect((await send("GET", "/users/me", { token: key })).status).toBe(403);
  });

  it.each(["POST", "PATCH"])(
    "is refused with its scope where the rule of %s is a function",
    async (method) => {
      const { key, send } = await withKey(["drafts:read"]);
      const path = method === "POST" ? "/drafts" : "/drafts/x";
      const refused = await send(method, path, { token: key, json: { text: "t" } });
      expect(refused).toMatchObject({
        status: 403,
        json: { detail: "the API key lacks the scope drafts:write" },
      });
    },
  );

  it("is nobody on public routes outside of its scopes", async () => {
    const { key, send } = await withKey(["notes:read"]);
    expect((await send("GET", "/whoami", { token: key })).json.id).toBe(null);
  });

  it.each(["/tasks/:id?populate", "/tasks?populate"])(
    "populates as nobody what is outside of its scopes, at %s",
    async (path) => {
      const { key, ada, send } = await withKey(["tasks:read"]);
      const make = async (at: string, json: object): Promise<string> => {
        const made = await send("POST", at, { token: ada.token, json });
        return made.json.id as string;
      };
      const ids = {
        team: await make("/teams", { title: "T" }),
        board: await make("/boards", { title: "B", plan: "secret" }),
      };
      const id = await make("/tasks", ids);
      await make("/remarks", { task: id, text: "secret" });
      const url = `${path.replace(":id", id)}=team,board,remarks`;
      const { json } = await send("GET", url, { token: key });
      const shown = [json].flat()[0] as Record<string, unknown>;
      expect(shown).toMatchObject({ team: ids.team, board: { title: "B" } });
      expect([JSON.stringify(json).includes("secret"), "remarks" in shown]).toEqual([false, false]);
      const own = await send("GET", url, { token: ada.token });
      const expected = {
        team: { title: "T" },
        board: { plan: "secret" },
        remarks: [{ text: "secret" }],
      };
      expect([own.json].flat()[0]).toMatchObject(expected);
    },
  );

  it("shows of owners outside of its scopes what everyone sees", async () => {
    const { ada, key, send } = await withKey(["notes:read"]);
    await send("POST", "/notes", { token: ada.token, json: { text: "t" } });
    const shown = async (token: string) => (await send("GET", "/notes", { token })).json[0].author;
    expect(await shown(ada.token)).toMatchObject({ id: ada.id, name: "ada" });
    expect(await shown(key)).toEqual({ id: ada.id, name: null, picture: null });
  });

  it("gets no response that its user got to a request with an Idempotency-Key", async () => {
    const { ada, key, send } = await withKey(["*:read", "*:write"]);
    const sent = {
      json: { name: "new", scopes: ["*:write"] },
      headers: { "idempotency-key": "k".repeat(20) },
    };
    const made = await send("POST", "/users/me/keys", { token: ada.token, ...sent });
    expect(made.json).toHaveProperty("key");
    const repeated = await send("POST", "/users/me/keys", { token: key, ...sent });
    expect([repeated.status, "key" in repeated.json]).toEqual([422, false]);
    const again = await send("POST", "/users/me/keys", { token: ada.token, ...sent });
    expect(again.json).toEqual(made.json);
  });

  it("of all scopes does what its user may, and no more", async () => {
    const { key, send, join } = await withKey(["*:read", "*:write"]);
    const created = await send("POST", "/notes", { token: key, json: { text: "t" } });
    expect(created.status).toBe(201);
    const bob = await join("bob@example.com");
    const foreign = await send("POST", "/notes", { token: bob.token, json: { text: "b" } });
    const path = `/notes/${foreign.json.id}`;
    expect((await send("PUT", path, { token: key, json: { text: "x" } })).status).toBe(403);
    expect((await send("GET", "/users", { token: key })).status).toBe(403);
    const user = { email: "eve@example.com", password };
    expect((await send("POST", "/users", { token: key, json: user })).status).toBe(403);
  });

  it("neither sees nor changes what somebody signs in with, an admin's neither", async () => {
    const opened = await openAccounts();
    const root = await opened.join("root@example.com", "admin");
    const { json } = await opened.send("POST", "/users/me/keys", {
      token: root.token,
      json: { name: "all", scopes: ["*:read", "*:write"] },
    });
    for (const [method, path, body] of [
      ["GET", "/users/me/sessions"],
      ["DELETE", "/users/me/sessions"],
      ["GET", "/users/me/keys"],
      ["POST", "/users/me/keys", { name: "n", scopes: ["*:read"] }],
      ["DELETE", `/users/me/keys/${json.id}`],
      ["DELETE", "/users/me/totp"],
      ["GET", "/users/me/passkeys"],
      ["POST", "/passkeys/registration-options"],
      ["PUT", "/users/me/role", { role: "user" }],
      ["DELETE", "/auth"],
    ] as const) {
      const sent = body === undefined ? {} : { json: body };
      const { status } = await opened.send(method, path, { token: json.key, ...sent });
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });

  it("is shown once, and stored as a hash", async () => {
    const { ada, key, made, send, store } = await withKey(["*:read"]);
    expect(key).toMatch(/^fwk_/);
    const [stored] = await store.collection(apiKeyCollection).find({});
    expect(JSON.stringify(stored)).not.toContain(key.slice(-43));
    const { json } = await send("GET", "/users/me/keys", { token: ada.token });
    const { key: _, ...shown } = made;
    expect(json).toEqual([shown]);
  });

  it("notes when it was used, to the minute", async () => {
    const { ada, key, send, store } = await withKey(["notes:read"]);
    await Promise.all([1, 2, 3].map(() => send("GET", "/notes", { token: key })));
    const [{ usedAt }] = (await send("GET", "/users/me/keys", { token: ada.token })).json;
    expect(Math.abs(Date.now() - Date.parse(usedAt))).toBeLessThan(5_000);
    const versions = async () =>
      (await store.collection(apiKeyCollection).find({})).map(({ version }) => version);
    const before = await versions();
    await send("GET", "/notes", { token: key });
    expect(await versions()).toEqual(before);
  });

  it("ends when it expires, is removed, and with its user", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { ada, join, key, made, send } = await withKey(["notes:read"], { expiresAt });
    expect(made.expiresAt).toBe(expiresAt);
    vi.useFakeTimers({ now: Date.now() + 3_600_001, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    expect((await send("GET", "/notes", { token: key })).status).toBe(401);
    vi.useRealTimers();
    expect((await send("GET", "/notes", { token: key })).status).toBe(200);
    const bob = await join("bob@example.com");
    const path = `/users/${ada.id}/keys/${made.id}`;
    expect((await send("DELETE", path, { token: bob.token })).status).toBe(403);
    expect((await send("DELETE", `/users/me/keys/${made.id}`, { token: bob.token })).status).toBe(
      404,
    );
    expect((await send("DELETE", path, { token: ada.token })).status).toBe(204);
    expect((await send("GET", "/notes", { token: key })).status).toBe(401);
    const other = await withKey(["notes:read"]);
    const root = await other.join("root@example.com", "admin");
    await other.send("DELETE", `/users/${other.ada.id}`, { token: root.token });
    expect((await other.send("GET", "/notes", { token: other.key })).status).toBe(401);
    expect(await other.store.collection(apiKeyCollection).count()).toBe(0);
  });

  it.each([
    "fwk_x_",
    `fwk_x_${"a".repeat(43)}`,
    "fwk_",
    `fwk_${"a".repeat(200)}_${"a".repeat(43)}`,
  ])("%s is none", async (token) => {
    const { send } = await withKey(["*:read"]);
    expect((await send("GET", "/notes", { token })).status).toBe(401);
  });

  it("with another secret or identifier is none", async () => {
    const { key, send } = await withKey(["*:read"]);
    const changed = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
    expect((await send("GET", "/notes", { token: changed })).status).toBe(401);
  });
});

describe("making an API key", () => {
  it.each([
    [{ name: "", scopes: ["*:read"] }, "name"],
    [{ name: "n", scopes: [] }, "scopes"],
    [{ name: "n", scopes: ["notes"] }, "scopes.0"],
    [{ name: "n", scopes: ["notes:admin"] }, "scopes.0"],
    [{ name: "n", scopes: ["*:read"], expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    [{ name: "n", scopes: ["*:read"], expiresAt: "tomorrow" }, "expiresAt"],
  ])("%j is refused", async (json, param) => {
    const { join, send } = await openAccounts();
    const { token } = await join("ada@example.com");
    const refused = await send("POST", "/users/me/keys", { token, json });
    expect([refused.status, refused.json.param]).toEqual([400, param]);
  });

  it("needs a sign-in within 15 minutes, of the user itself", async () => {
    const { join, send } = await openAccounts();
    const ada = await join("ada@example.com");
    const root = await join("root@example.com", "admin");
    const json = { name: "n", scopes: ["*:read"] };
    const path = `/users/${ada.id}/keys`;
    expect((await send("POST", path, { json })).status).toBe(401);
    expect((await send("POST", path, { json, token: masterKey })).status).toBe(401);
    expect((await send("POST", path, { json, token: root.token })).status).toBe(403);
    vi.useFakeTimers({ now: Date.now() + 901_000, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const late = await send("POST", path, { json, token: ada.token });
    expect([late.status, late.json.detail]).toEqual([
      403,
      "this needs a sign-in within 15 minutes",
    ]);
  });
});
