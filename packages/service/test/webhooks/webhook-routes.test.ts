import { openStore } from "@fetchwork/documents";
import { defineResource } from "@fetchwork/rest";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { announcedResources } from "../../src/webhooks/announced-resources.ts";
import { delivery } from "../../src/webhooks/webhook-model.ts";
import { app, note } from "../notes-service.ts";
import { openApi as open, transports, type TestApi, type Transport } from "../open-api.ts";

const url = "https://example.com/hooks";
/** Nobody answers there. */
const closed = "http://127.0.0.1:1/hooks";

/** As in production: only to public addresses, and by HTTPS. */
function openApi(transport: Transport): Promise<TestApi> {
  return open(transport, { WEBHOOKS_TO_PRIVATE: "no" });
}

describe.each(transports)("webhooks (%s)", (transport) => {
  it("are for admins only", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("user@example.com");
    const admin = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/webhooks", { json: { url }, token: admin.token });
    const path = `/webhooks/${created.json.id}`;
    for (const [method, target] of [
      ["GET", "/webhooks"],
      ["POST", "/webhooks"],
      ["GET", path],
      ["PATCH", path],
      ["DELETE", path],
      ["GET", `${path}/deliveries`],
      ["POST", `${path}/deliveries/x/replays`],
    ] as const) {
      const json = method === "POST" || method === "PATCH" ? { url } : undefined;
      expect((await api.send(method, target, { json })).status).toBe(401);
      expect((await api.send(method, target, { json, token })).status).toBe(403);
    }
    expect((await api.send("GET", path, { token: admin.token })).status).toBe(200);
  });

  it("show whose events they get", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    await api.service.sender.endpoints.create({ url, tenant: "acme" });
    const { json } = await api.send("GET", "/webhooks", { token });
    expect(json).toMatchObject([{ url, tenant: "acme" }]);
  });

  it.each([
    [{}, "url"],
    [{ url: "http://example.com/" }, "url"],
    [{ url: "https://a:b@example.com/" }, "url"],
    [{ url: "no url" }, "url"],
    [{ url, events: [] }, "events"],
    [{ url, events: ["a b"] }, "events"],
    [{ url, secret: "short" }, "secret"],
    [{ url, description: "x".repeat(501) }, "description"],
  ])("are refused: %j", async (json, param) => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const refused = await api.send("POST", "/webhooks", { json, token });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param });
    expect((await api.send("GET", "/webhooks", { token })).json).toEqual([]);
  });

  it("are described in the reference with an address that is a URI, as it must be", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const { json: document } = await api.send("GET", "/openapi.json");
    const { post } = document.paths["/webhooks"];
    const { patch } = document.paths["/webhooks/{id}"];
    for (const { requestBody } of [post, patch]) {
      const sent = requestBody.content["application/json"].schema;
      const name = sent.$ref?.split("/").at(-1);
      const schema = name === undefined ? sent : document.components.schemas[name];
      expect(schema.properties.url).toMatchObject({ type: "string", format: "uri" });
    }
    const refused = await api.send("POST", "/webhooks", { json: { url: "v1" }, token });
    expect([refused.status, refused.json.param]).toEqual([400, "url"]);
  });

  it("are created, shown without their secret, changed and deleted", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const json = { url, events: ["user"], description: "d" };
    const created = await api.send("POST", "/webhooks", { json, token });
    expect(created.status).toBe(201);
    const { secret, ...endpoint } = created.json;
    expect(secret).toMatch(/^whsec_/);
    const path = created.headers.get("location") ?? "";
    expect((await api.send("GET", path, { token })).json).toEqual(endpoint);
    expect((await api.send("GET", "/webhooks", { token })).json).toEqual([endpoint]);
    const deliveries = `${path}/deliveries`;
    for (const bad of [{ url: "http://a.example" }, { events: ["a b"] }, { secret: "short" }]) {
      expect((await api.send("PATCH", path, { json: bad, token })).status).toBe(400);
    }
    const change = { status: "disabled", events: ["user.created"] };
    expect((await api.send("PATCH", path, { json: change, token })).json).toMatchObject(change);
    expect((await api.send("GET", `${deliveries}?status=x`, { token })).status).toBe(400);
    const replayed = await api.send("POST", `${deliveries}/x/replays`, { token });
    expect(replayed.status).toBe(404);
    expect((await api.send("DELETE", path, { token })).status).toBe(204);
    expect((await api.send("DELETE", path, { token })).status).toBe(404);
    expect((await api.send("PATCH", path, { json: change, token })).status).toBe(404);
  });

  it("keep their secrets sealed by the first of SECRET_KEY, and open them by all of them", async () => {
    const [current, former] = ["k".repeat(32), "f".repeat(32)];
    const api = await open(transport, { SECRET_KEY: `${current}, ${former}` });
    const { token } = await api.join("admin@example.com", "admin");
    const { json } = await api.send("POST", "/webhooks", { json: { url }, token });
    const stored = api.service.store.collection(senderCollections.endpoints);
    expect(JSON.stringify(await stored.find())).not.toContain(json.secret);
    const later = createSender({ store: api.service.store, sealWith: ["n".repeat(32), current] });
    expect(await later.endpoints.rotateSecret(json.id)).toMatchObject({ id: json.id });
    const other = createSender({ store: api.service.store, sealWith: former });
    await expect(other.endpoints.rotateSecret(json.id)).rejects.toThrow(/sealed with a key/);
  });

  it("list their deliveries with the members that the reference describes, and replay them", async () => {
    const api = await open(transport, { WEBHOOKS_TO_PRIVATE: "yes" });
    const { token } = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/webhooks", { json: { url: closed }, token });
    await api.join("user@example.com");
    const path = `/webhooks/${created.json.id}/deliveries`;
    const list = async () => (await api.send("GET", path, { token })).json;
    await expect.poll(list).toHaveLength(1);
    const [shown] = await list();
    expect(Object.keys(delivery.properties)).toEqual(expect.arrayContaining(Object.keys(shown)));
    expect(Object.keys(shown)).toEqual(expect.arrayContaining([...delivery.required]));
    const replays = (of: string) => `/webhooks/${of}/deliveries/${shown.id}/replays`;
    expect((await api.send("POST", replays("another"), { token })).status).toBe(404);
    expect((await api.send("POST", replays(created.json.id), { token })).status).toBe(202);
  });
});

describe.each(transports)("a webhook (%s)", (transport) => {
  it("is changed and deleted only in the version that If-Match names", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/webhooks", { json: { url }, token });
    const path = created.headers.get("location") ?? "";
    const first = created.headers.get("etag") ?? "";
    expect((await api.send("GET", path, { token })).headers.get("etag")).toBe(first);
    const send = (method: string, tag: string, json?: object) =>
      api.send(method, path, { json, token, headers: { "if-match": tag } });
    expect((await send("PATCH", '"999"', { description: "lost" })).status).toBe(412);
    const changed = await send("PATCH", first, { description: "new", status: "disabled" });
    expect([changed.status, changed.json.description]).toEqual([200, "new"]);
    const second = changed.headers.get("etag") ?? "";
    expect((await send("PATCH", first, { description: "lost" })).status).toBe(412);
    expect((await send("DELETE", first)).status).toBe(412);
    const shown = await api.send("GET", path, { token });
    expect([shown.json.description, shown.headers.get("etag")]).toEqual(["new", second]);
    const headers = { "if-none-match": second };
    expect((await api.send("GET", path, { token, headers })).status).toBe(304);
    expect((await send("DELETE", second)).status).toBe(204);
  });

  it("loses no change that is made at the same time as others", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/webhooks", { json: { url }, token });
    const path = created.headers.get("location") ?? "";
    const first = { "if-match": created.headers.get("etag") ?? "" };
    const descriptions = [1, 2, 3, 4, 5].map((number) => `description ${number}`);
    const guarded = await Promise.all(
      descriptions.map((description) =>
        api.send("PATCH", path, { json: { description }, token, headers: first }),
      ),
    );
    const statuses = guarded.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 412, 412, 412, 412]);
    const [one] = guarded.filter(({ status }) => status === 200);
    const free = [
      { events: ["user"] },
      { status: "disabled" },
      { url: `${url}/2` },
      { secret: "a-secret-of-16-characters" },
    ];
    const sent = free.map((json) => api.send("PATCH", path, { json, token }));
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    const { json } = await api.send("GET", path, { token });
    const description = one?.json.description;
    expect(json).toMatchObject({ ...free[0], ...free[1], ...free[2], description });
  });

  it("changes fields and status in one version, and stays as it is known to fail", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const created = await api.send("POST", "/webhooks", { json: { url }, token });
    const path = created.headers.get("location") ?? "";
    expect(created.headers.get("etag")).toBe('"1"');
    const json = { description: "d", status: "disabled" };
    const changed = await api.send("PATCH", path, { json, token });
    expect([changed.headers.get("etag"), changed.json]).toMatchObject(['"2"', json]);
    const { disabledAt } = changed.json;
    const again = await api.send("PATCH", path, { json: { status: "disabled" }, token });
    expect(again.json).toMatchObject({ ...json, disabledAt, disabledReason: "manual" });
  });

  it("loses its events and its description by null, and nothing else", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const json = { url, events: ["user"], description: "d" };
    const created = await api.send("POST", "/webhooks", { json, token });
    const path = created.headers.get("location") ?? "";
    const none = { events: null, description: null };
    const changed = await api.send("PATCH", path, { json: none, token });
    expect(changed.status).toBe(200);
    const { events: _events, description: _description, secret: _secret, ...kept } = created.json;
    expect(changed.json).toEqual(kept);
    expect((await api.send("GET", path, { token })).json).toEqual(kept);
    for (const name of ["url", "secret", "status"]) {
      const refused = await api.send("PATCH", path, { json: { [name]: null }, token });
      expect([refused.status, refused.json.param]).toEqual([400, name]);
    }
  });

  it.each(["\u0000", "\ud800"])("refuses text that is not kept: %j", async (text) => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const json = { url, description: text };
    expect((await api.send("POST", "/webhooks", { json, token })).status).toBe(400);
    const path = "/webhooks/x/deliveries/%00/replays";
    expect((await api.send("POST", path, { token })).status).toBe(400);
  });
});

describe.each(transports)("the list of webhooks (%s)", (transport) => {
  it("is paged, in the order of their creation, with the fields that were asked for", async () => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    for (const number of [1, 2, 3]) {
      await api.send("POST", "/webhooks", { json: { url: `${url}/${number}` }, token });
    }
    const first = await api.send("GET", "/webhooks?limit=2&fields=url", { token });
    expect(first.json).toEqual([1, 2].map((n) => ({ url: `${url}/${n}`, id: expect.anything() })));
    expect(first.headers.get("x-total-count")).toBe("3");
    const link = first.headers.get("link") ?? "";
    const next = /<([^>]*)>; rel="next"/.exec(link)?.[1] ?? "";
    const second = await api.send("GET", next, { token });
    expect(second.json).toMatchObject([{ url: `${url}/3` }]);
    expect(second.headers.get("link")).not.toContain('rel="next"');
    const headers = { "if-none-match": second.headers.get("etag") ?? "" };
    expect((await api.send("GET", next, { token, headers })).status).toBe(304);
  });

  it.each([
    ["limit=101", "limit"],
    ["page=0", "page"],
    ["fields=secret", "fields"],
    ["sort=url", "sort"],
    ["q=x", "q"],
  ])("refuses %s", async (query, param) => {
    const api = await openApi(transport);
    const { token } = await api.join("admin@example.com", "admin");
    const refused = await api.send("GET", `/webhooks?${query}`, { token });
    expect([refused.status, refused.json.param]).toEqual([400, param]);
  });
});

describe("changes of resources", () => {
  it("are sent, without what admins do not see", { timeout: 30_000 }, async () => {
    const secret = "test-webhook-secret-test-webhook-00";
    const api = await open("socket", { WEBHOOK_SECRET: secret, WEBHOOKS_TO_PRIVATE: "yes" });
    const { token } = await api.join("a@example.com", "admin");
    const json = { url: `${api.origin}/inbox`, secret, events: ["user"] };
    expect((await api.send("POST", "/webhooks", { json, token })).status).toBe(201);
    const { id } = await api.join("b@example.com");
    await api.send("PATCH", `/users/${id}`, { json: { name: "Ben" }, token });
    await api.send("DELETE", `/users/${id}`, { token });
    const { sender, store } = api.service;
    const received = async (): Promise<readonly string[]> =>
      (await store.collection(note.collection).find()).map(({ text }) => text).toSorted();
    const expected = ["user created", "user removed", "user updated"];
    await expect.poll(received, { timeout: 15_000 }).toEqual(expected);
    const stored = await store.collection(senderCollections.events).find();
    const all = stored.map(({ payload }) => JSON.parse(payload));
    const payloads = all.filter(({ user }) => user !== undefined && user.id === id);
    const created = payloads.find(({ action }) => action === "created");
    const shown = { id, email: "b@example.com", createdAt: expect.any(String) };
    expect(created.user).toMatchObject(shown);
    expect(JSON.stringify(payloads)).not.toContain("passwordHash");
    expect(payloads.find(({ action }) => action === "removed").user).toEqual({ id });
    await expect
      .poll(async () => (await sender.deliveries()).map(({ status }) => status))
      .toEqual(["delivered", "delivered", "delivered"]);
  });

  it("are subscribed by the names of resources, and events by those of the service", async () => {
    const api = await openApi("memory");
    const { token } = await api.join("admin@example.com", "admin");
    const subscribe = (event: string) =>
      api.send("POST", "/webhooks", { json: { url, events: [event] }, token });
    for (const event of ["note", "note.restored", "user.removed", "tidied"]) {
      expect((await subscribe(event)).status).toBe(201);
    }
    for (const event of ["notes", "note.changed", "tidy"]) {
      const { json, status } = await subscribe(event);
      expect([status, json.param]).toEqual([400, "events"]);
      expect(json.message).toContain(`"${event}"`);
    }
    const unlisted = api.service.sender?.send({ name: "tidy", payload: {} });
    await expect(unlisted).rejects.toMatchObject({ code: "ERR_WEBHOOKS_EVENT_NAME" });
    const { json } = await subscribe("note");
    const change = { json: { events: ["note", "notes"] }, token };
    expect((await api.send("PATCH", `/webhooks/${json.id}`, change)).status).toBe(400);
  });
});

describe("a resource", () => {
  it("is announced with changes that are recorded, or not at all", async () => {
    const store = await openStore("sqlite::memory:");
    onTestFinished(() => store.close());
    const silent = defineResource({
      name: "silent",
      path: "/silent",
      schema: z.object({ text: z.string() }),
      access: {},
    });
    const announce = announcedResources([...app.resources, silent], { store, users: undefined });
    expect(() => createSender({ store, announce })).toThrow(
      'changes of silent are not recorded: define it with changes: "documents"',
    );
  });
});
