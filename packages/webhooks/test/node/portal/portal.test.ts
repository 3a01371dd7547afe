import { createPortal } from "@fetchwork/webhooks/portal";
import { describe, expect, it } from "vitest";
import { openPortal } from "./open-portal.ts";

describe("createPortal()", () => {
  it.each([
    [{ authorize: undefined }, /authorize/],
    [{ path: "webhooks" }, /path/],
    [{ path: "/webhooks/" }, /path/],
    [{ path: "/" }, /path/],
    [{ frameAncestors: ["*"] }, /frameAncestors/],
    [{ frameAncestors: ["https://a.example/"] }, /frameAncestors/],
    [{ frameAncestors: ["https://a.example; script-src *"] }, /frameAncestors/],
    [{ frameAncestors: ["javascript:1"] }, /frameAncestors/],
    [{ maxEndpoints: 0 }, /maxEndpoints/],
    [{ tenant: "a" }, /tenant/],
  ])("refuses %j", async (options, message) => {
    const { sender } = await openPortal();
    const all = { authorize: () => "a", ...options } as never;
    expect(() => createPortal(sender, all)).toThrow(message);
    expect(() => createPortal({} as never, { authorize: () => "a" })).toThrow(/sender/);
  });
});

describe("The API of a portal", () => {
  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/rotate-secret"],
    ["POST", "/test"],
    ["GET", "/deliveries"],
    ["POST", "/deliveries/:delivery/replay"],
  ])(
    "has no endpoint of another tenant, of none, or that does not exist: %s %s",
    async (method, rest) => {
      const { ask, sender, target } = await openPortal();
      const theirs = await sender.endpoints.create({ url: `${target}/bad`, tenant: "b" });
      const none = await sender.endpoints.create({ url: target });
      const mine = await sender.endpoints.create({ url: target, tenant: "a" });
      const delivery = await sender.sendTest(theirs.id, "order.paid");
      await expect.poll(async () => (await sender.deliveries({ status: "dead" })).length).toBe(1);
      const before = [await sender.endpoints.get(theirs.id), await sender.deliveries()];
      const path = rest.replace(":delivery", delivery?.id ?? "");
      const body =
        method === "GET" ? {} : { body: path === "/test" ? { eventType: "order.paid" } : {} };
      const ids = [theirs.id, none.id, "missing", "..", "%2e%2e", "a'b", "x".repeat(3_000)];
      for (const id of ids) {
        const { status } = await ask({
          tenant: "a",
          method,
          path: `endpoints/${id}${path}`,
          ...body,
        });
        expect([id, status]).toEqual([id, 404]);
      }
      // Nor through an endpoint of the tenant.
      if (path.endsWith("/replay")) {
        const answer = await ask({
          tenant: "a",
          method,
          path: `endpoints/${mine.id}${path}`,
          ...body,
        });
        expect(answer.status).toBe(404);
      }
      const after = [await sender.endpoints.get(theirs.id), await sender.deliveries()];
      expect(after).toEqual(before);
    },
  );

  it("refuses a request that authorize refuses, as it says", async () => {
    const { ask } = await openPortal();
    const answer = await ask({ path: "endpoints" });
    expect([answer.status, answer.body.title]).toEqual([401, "Unauthorized"]);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    const other = await openPortal({ authorize: async () => new Response("{}", { status: 403 }) });
    expect((await other.ask({ path: "endpoints" })).status).toBe(403);
  });

  it.each(["", "a/b", "x".repeat(65), null, 5])(
    "shows nothing to the tenant %j, and rejects",
    async (tenant) => {
      const { sender } = await openPortal();
      const portal = createPortal(sender, { authorize: () => tenant as never });
      const request = new Request("http://x.example/webhooks/api/endpoints");
      await expect(portal(request)).rejects.toThrow(/invalid tenant/);
    },
  );

  it.each<Readonly<Record<string, string>>>([
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "https://evil.example", authorization: "Basic YTpi" },
  ])("refuses what a page of another origin sends: %j", async (headers) => {
    const { ask, sender, target } = await openPortal();
    const { id } = await sender.endpoints.create({ url: target, tenant: "a" });
    const removal = { tenant: "a", method: "DELETE", path: `endpoints/${id}`, headers };
    expect((await ask(removal)).status).toBe(403);
    const asBearer = { ...headers, authorization: "Bearer a" };
    expect((await ask({ ...removal, headers: asBearer })).status).toBe(204);
  });

  it.each([
    ["POST", "endpoints", "x".repeat(65_537), 413],
    ["POST", "endpoints", "{", 400],
    ["POST", "endpoints", "[]", 400],
    ["POST", "endpoints", '"\u00e9"', 400],
    ["POST", "endpoints", '{"url":"https://a.example","tenant":"b"}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","secret":"whsec_AAAA"}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","__proto__":{"tenant":"b"}}', 422],
    ["POST", "endpoints", "{}", 422],
    ["POST", "endpoints", '{"url":"javascript:alert(1)"}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","events":["other"]}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","events":"order.paid"}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","headers":{"host":"b"}}', 422],
    ["POST", "endpoints", '{"url":"https://a.example","description":5}', 422],
    ["PATCH", "endpoints/:id", '{"status":"gone"}', 422],
    ["PATCH", "endpoints/:id", '{"secret":"whsec_AAAA"}', 422],
    ["POST", "endpoints/:id/rotate-secret", '{"overlap":"5"}', 422],
    ["POST", "endpoints/:id/rotate-secret", '{"overlap":-1}', 422],
    ["POST", "endpoints/:id/rotate-secret", '{"secret":"whsec_AAAA"}', 422],
    ["POST", "endpoints/:id/test", "{}", 422],
    ["POST", "endpoints/:id/test", '{"eventType":"__proto__"}', 422],
    ["POST", "endpoints/:id/test", '{"eventType":"order.lost"}', 422],
    ["GET", "endpoints?limit=101", undefined, 422],
    ["GET", "endpoints?offset=-1", undefined, 422],
    ["GET", "endpoints/:id/deliveries?status=lost", undefined, 422],
    ["GET", "endpoints/:id/deliveries?limit=1e9", undefined, 422],
    ["PUT", "endpoints/:id", "{}", 405],
    ["GET", "endpoints/:id/test", undefined, 405],
    ["GET", "toString", undefined, 404],
    ["GET", "", undefined, 404],
  ])("refuses %s %s with the body %.60s", async (method, path, body, status) => {
    const { ask, sender, target } = await openPortal();
    const { id } = await sender.endpoints.create({ url: target, tenant: "a" });
    const place = path.replace(":id", id);
    const answer = await ask({ tenant: "a", method, path: place, ...(body && { body }) });
    expect(answer).toMatchObject({ status, body: { type: "about:blank", status } });
    expect(await sender.endpoints.count()).toBe(1);
  });

  it("refuses a body of another type, and more endpoints than it may have", async () => {
    const { ask, target } = await openPortal({ maxEndpoints: 1 });
    const post = { tenant: "a", method: "POST", path: "endpoints", body: { url: target } };
    const headers = { "content-type": "text/plain" };
    expect((await ask({ ...post, headers })).status).toBe(415);
    expect((await ask(post)).status).toBe(201);
    expect((await ask(post)).status).toBe(409);
    expect((await ask({ ...post, tenant: "b" })).status).toBe(201);
  });

  it("manages the endpoints of its tenant, and shows a secret once", async () => {
    const { ask, target, sender } = await openPortal();
    const tenant = "a";
    const body = {
      url: `${target}/x`,
      events: ["order.paid"],
      headers: { authorization: "Bearer 1" },
    };
    const made = await ask({ tenant, method: "POST", path: "endpoints", body });
    expect(made.body).toMatchObject({ tenant, headerNames: ["authorization"] });
    expect(made.headers.get("cache-control")).toBe("no-store");
    const { id, secret } = made.body;
    const path = `endpoints/${id}`;
    const listed = await ask({ tenant, path: "endpoints" });
    expect([listed.body.total, listed.body.endpoints[0].id]).toEqual([1, id]);
    expect(JSON.stringify(listed.body)).not.toMatch(/whsec_|Bearer 1/);

    const rotate = {
      tenant,
      method: "POST",
      path: `${path}/rotate-secret`,
      body: { overlap: 60_000 },
    };
    const rotated = await ask(rotate);
    expect(rotated.body.secret).not.toBe(secret);
    expect(Date.parse(rotated.body.previousSecretUntil)).toBeGreaterThan(Date.now());

    const change = { status: "disabled", description: "mine", events: null, headers: null };
    expect((await ask({ tenant, method: "PATCH", path, body: change })).body).toMatchObject({
      status: "disabled",
      description: "mine",
    });
    const test = {
      tenant,
      method: "POST",
      path: `${path}/test`,
      body: { eventType: "order.paid" },
    };
    expect((await ask(test)).status).toBe(409);
    expect((await ask({ tenant, method: "DELETE", path })).status).toBe(204);
    expect(await sender.endpoints.count()).toBe(0);
  });

  it("sends a test to one endpoint, shows its attempts and replays it", async () => {
    const { ask, target, sender, arrived } = await openPortal();
    const tenant = "a";
    const { id } = await sender.endpoints.create({ url: `${target}/bad`, tenant });
    await sender.endpoints.create({ url: `${target}/other`, tenant });
    const types = await ask({ tenant, path: "event-types" });
    expect(types.body.eventTypes[0]).toMatchObject({ name: "order.paid", example: { total: 12 } });
    const path = `endpoints/${id}`;
    const body = { eventType: "order.paid" };
    expect((await ask({ tenant, method: "POST", path: `${path}/test`, body })).status).toBe(202);
    const list = { tenant, path: `${path}/deliveries?status=dead` };
    await expect.poll(async () => (await ask(list)).body.deliveries.length).toBe(1);
    const [delivery] = (await ask(list)).body.deliveries;
    expect(delivery.history[0]).toMatchObject({ status: 500, excerpt: /onerror/ });
    const replay = `${path}/deliveries/${delivery.id}/replay`;
    expect((await ask({ tenant, method: "POST", path: replay })).status).toBe(204);
    await expect.poll(() => arrived).toEqual(["/bad", "/bad"]);
  });
});

describe("The page of a portal", () => {
  it("has no data, may run and load nothing of others, and is embedded nowhere by default", async () => {
    const { url } = await openPortal();
    const page = await fetch(url);
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect(await page.text()).not.toMatch(/https?:|\son\w+=|style=/);
    const etag = page.headers.get("etag") ?? "";
    expect((await fetch(url, { headers: { "if-none-match": etag } })).status).toBe(304);
    const moved = await fetch(url.slice(0, -1), { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "webhooks/"]);
  });

  it("is embedded by the given origins only", async () => {
    const { url } = await openPortal({
      frameAncestors: ["https://app.example", "http://localhost:1"],
    });
    const { headers } = await fetch(url);
    expect(headers.get("x-frame-options")).toBeNull();
    expect(headers.get("content-security-policy")).toContain(
      "frame-ancestors https://app.example http://localhost:1;",
    );
  });

  it.each(["package.json", "..%2fpackage.json", "toString", "portal.html", "a/portal.js"])(
    "has no file %s",
    async (name) => {
      const { url } = await openPortal();
      expect((await fetch(url + name)).status).toBe(404);
    },
  );

  it("takes GET and HEAD only", async () => {
    const { url } = await openPortal();
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${url}portal.js`, { method: "POST" })).status).toBe(405);
  });
});
