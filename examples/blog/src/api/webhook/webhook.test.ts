import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { jwtSecret, masterKey, openBlog, transports } from "../../../test/blog-client.ts";
import { createApp } from "../../app.ts";
import { announceChanges } from "../../services/announce-changes.ts";
import { article } from "../article/model.ts";

const url = "https://example.com/hooks";

describe.each(transports)("webhooks (%s)", (transport) => {
  it("are for admins only", async () => {
    const blog = await openBlog(transport);
    const { token } = await blog.join("user@example.com");
    const admin = await blog.join("admin@example.com", "admin");
    const created = await blog.send("POST", "/webhooks", { json: { url }, token: admin.token });
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
      expect((await blog.send(method, target, { json })).status).toBe(401);
      expect((await blog.send(method, target, { json, token })).status).toBe(403);
    }
    expect((await blog.send("GET", path, { token: admin.token })).status).toBe(200);
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
    const blog = await openBlog(transport);
    const { token } = await blog.join("admin@example.com", "admin");
    const refused = await blog.send("POST", "/webhooks", { json, token });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ valid: false, param });
    expect((await blog.send("GET", "/webhooks", { token })).json).toEqual([]);
  });

  it("are created, shown without their secret, changed and deleted", async () => {
    const blog = await openBlog(transport);
    const { token } = await blog.join("admin@example.com", "admin");
    const json = { url, events: ["article"], description: "d" };
    const created = await blog.send("POST", "/webhooks", { json, token });
    expect(created.status).toBe(201);
    const { secret, ...endpoint } = created.json;
    expect(secret).toMatch(/^whsec_/);
    const path = created.headers.get("location") ?? "";
    expect((await blog.send("GET", path, { token })).json).toEqual(endpoint);
    expect((await blog.send("GET", "/webhooks", { token })).json).toEqual([endpoint]);
    const deliveries = `${path}/deliveries`;
    await blog.send("POST", "/articles", { json: { title: "t" }, token });
    const [delivery] = (await blog.send("GET", deliveries, { token })).json;
    const ofAnother = `/webhooks/another/deliveries/${delivery.id}/replays`;
    expect((await blog.send("POST", ofAnother, { token })).status).toBe(404);
    const own = `${deliveries}/${delivery.id}/replays`;
    expect((await blog.send("POST", own, { token })).status).toBe(202);
    for (const bad of [{ url: "http://a.example" }, { events: ["a b"] }, { secret: "short" }]) {
      expect((await blog.send("PATCH", path, { json: bad, token })).status).toBe(400);
    }
    const change = { status: "disabled", events: ["user.created"] };
    expect((await blog.send("PATCH", path, { json: change, token })).json).toMatchObject(change);
    expect((await blog.send("GET", `${deliveries}?status=x`, { token })).status).toBe(400);
    const replayed = await blog.send("POST", `${deliveries}/x/replays`, { token });
    expect(replayed.status).toBe(404);
    expect((await blog.send("DELETE", path, { token })).status).toBe(204);
    expect((await blog.send("DELETE", path, { token })).status).toBe(404);
    expect((await blog.send("PATCH", path, { json: change, token })).status).toBe(404);
  });
});

describe("the receiver", () => {
  it("is not there without a secret", async () => {
    const blog = await openBlog();
    const answer = await blog.send("POST", "/api/vendor/webhooks", { json: {} });
    expect(answer.status).toBe(404);
  });

  it("takes what the blog itself sends", { timeout: 30_000 }, async () => {
    const lines = vi.spyOn(console, "log").mockImplementation(() => {});
    onTestFinished(() => lines.mockRestore());
    const store = await openStore("sqlite::memory:");
    const webhookSecret = "test-webhook-secret-test-webhook-00";
    const config = { masterKey, jwtSecret, tokenLifetime: 60 };
    const all = { ...config, webhookSecret, webhooksToPrivate: true };
    const { handler, sender } = createApp(all, store);
    const server = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });
    sender.start();
    onTestFinished(async () => {
      await server.close();
      await sender.stop({ grace: 0 });
      await store.close();
    });
    const request = async (method: string, path: string, json: object, token?: string) => {
      const response = await fetch(new URL(path, server.url), {
        method,
        headers: {
          "content-type": "application/json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(json),
      });
      return [response.status, await response.text()] as const;
    };
    const user = { email: "a@example.com", password: "123456", role: "admin" };
    await request("POST", "/users", { ...user, access_token: masterKey });
    const session = await fetch(new URL("/auth", server.url), {
      method: "POST",
      headers: { authorization: `Basic ${btoa("a@example.com:123456")}` },
      body: new URLSearchParams({ access_token: masterKey }),
    });
    const { token } = (await session.json()) as { token: string };

    const wrong = { "x-vendor-event": "article", "x-vendor-delivery": "1" };
    const forged = await fetch(new URL("/api/vendor/webhooks", server.url), {
      method: "POST",
      headers: {
        ...wrong,
        "content-type": "application/json",
        "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
      },
      body: "{}",
    });
    expect(forged.status).toBe(400);

    const target = new URL("/api/vendor/webhooks", server.url).href;
    const subscribed = { url: target, secret: webhookSecret, events: ["article"] };
    expect((await request("POST", "/webhooks", subscribed, token))[0]).toBe(201);
    const [status, text] = await request("POST", "/articles", { title: "Hello" }, token);
    expect(status).toBe(201);
    const { id } = JSON.parse(text) as { id: string };
    await request("PATCH", `/articles/${id}`, { title: "Hello again" }, token);
    await request("DELETE", `/articles/${id}`, {}, token);
    await expect
      .poll(() => lines.mock.calls.flat().map(String).toSorted(), { timeout: 15_000 })
      .toEqual([
        `webhook ${id}-1: article.created`,
        `webhook ${id}-2: article.updated`,
        `webhook ${id}-removed: article.removed`,
      ]);
    await expect
      .poll(async () => (await sender.deliveries()).map((delivery) => delivery.status))
      .toEqual(["delivered", "delivered", "delivered"]);
  });
});

describe("a change", () => {
  it("inside of a transaction is announced too, with it or not at all", async () => {
    const store = await openStore("sqlite::memory:");
    onTestFinished(() => store.close());
    const { sender } = createApp({ masterKey, jwtSecret, tokenLifetime: 60 }, store);
    const announced = announceChanges(store, { resources: [article], sender });
    const insert = (title: string) =>
      announced.transaction((alone) =>
        alone.collection(article.collection).insert({ title, content: "" }),
      );
    await insert("nobody listens");
    await sender.endpoints.create({ url });
    const { id } = await insert("heard");
    const undone = announced.transaction(async (alone) => {
      await alone.collection(article.collection).remove(id);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    const deliveries = await sender.deliveries();
    expect(deliveries.map(({ eventId }) => eventId)).toEqual([`${id}-1`]);
  });

  it("is not stored when its event cannot be", async () => {
    const store = await openStore("sqlite::memory:");
    onTestFinished(() => store.close());
    const { sender } = createApp({ masterKey, jwtSecret, tokenLifetime: 60 }, store);
    await sender.endpoints.create({ url });
    const failing = { ...sender, send: () => Promise.reject(new Error("no room")) };
    const announced = announceChanges(store, { resources: [article], sender: failing });
    const articles = announced.collection(article.collection);
    await expect(articles.insert({ title: "t", content: "" })).rejects.toThrow("no room");
    expect(await articles.count()).toBe(0);
  });
});
