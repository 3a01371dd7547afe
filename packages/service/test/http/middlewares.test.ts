import { createContext, text, wrap } from "@fetchwork/http";
import { defineResource, resourceRoutes } from "@fetchwork/rest";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openApi } from "../open-api.ts";
import { defineConfig, defineService, serverSettings } from "../../src/index.ts";
import { testService } from "../../src/testing/test-service.ts";
import { middlewares } from "../../src/http/middlewares.ts";

describe("around every route", () => {
  it("answers have an identifier, security headers and the time that they took", async () => {
    const api = await openApi("socket");
    for (const path of ["/users", "/users/none", "/nothing"]) {
      const { headers } = await api.send("GET", path, { headers: { "x-request-id": "mine" } });
      expect(Object.fromEntries(headers)).toMatchObject({
        "x-request-id": "mine",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringContaining("default-src 'self'"),
        "app-name": "notes",
        "server-timing": expect.stringMatching(/^total;dur=/),
      });
      expect(headers.has("strict-transport-security")).toBe(false);
    }
  });

  it("pages of other origins may read, and change with what the API understands", async () => {
    const api = await openApi("socket");
    const preflight = await api.send("OPTIONS", "/users/1", {
      headers: { origin: "https://app.example", "access-control-request-method": "PATCH" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("If-Match");
    const { headers } = await api.send("GET", "/openapi.json", {
      headers: { origin: "https://app.example" },
    });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const exposed = headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["ETag", "Link", "X-Total-Count"]));
    expect(exposed).toEqual(
      expect.arrayContaining(["Idempotency-Replayed", "X-Total-Count-Capped"]),
    );
  });

  it("pages of other origins than CORS_ORIGINS names may not read", async () => {
    const api = await openApi("memory", { CORS_ORIGINS: "https://app.example" });
    for (const [origin, allowed] of [
      ["https://app.example", "https://app.example"],
      ["https://app.example.evil.example", null],
    ] as const) {
      const { headers } = await api.send("GET", "/openapi.json", { headers: { origin } });
      expect(headers.get("access-control-allow-origin")).toBe(allowed);
    }
  });

  it("answers are compressed, and a document keeps the ETag that If-Match needs", async () => {
    const api = await openApi("socket");
    const { id, token } = await api.join("ada@example.com");
    const sent = { "accept-encoding": "gzip" };
    const reference = await api.send("GET", "/openapi.json", { headers: sent });
    expect(reference.headers.get("content-encoding")).toBe("gzip");
    const path = `/users/${id}`;
    const shown = await api.send("GET", path, { token, headers: sent });
    const etag = shown.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"/);
    const change = { token, json: { name: "Ada" }, headers: { "if-match": etag } };
    expect((await api.send("PATCH", path, change)).status).toBe(200);
    expect((await api.send("PATCH", path, change)).status).toBe(412);
  });

  it.each(["/notes", "/blog/notes"])(
    "large documents of %s have the ETag that If-Match needs in every response",
    async (path) => {
      const rule = "public";
      const access = { list: rule, show: rule, create: rule, update: rule, remove: rule } as const;
      const schema = z.object({ text: z.string() });
      const note = defineResource({ name: "note", path, schema, access });
      const service = defineService({
        name: "notes",
        config: defineConfig({ ...serverSettings }),
        resources: [resourceRoutes(note)],
      });
      const { fetch } = await testService(service);
      const send = (method: string, at: string, tag?: string) =>
        fetch(at, {
          method,
          headers: {
            "accept-encoding": "gzip",
            "content-type": "application/json",
            ...(tag === undefined ? {} : { "if-match": tag }),
          },
          ...(method === "GET" ? {} : { body: JSON.stringify({ text: "x".repeat(5000) }) }),
        });
      let last = await send("POST", path);
      const at = last.headers.get("location") ?? "";
      for (const method of ["PUT", "PATCH", "GET", "PUT"]) {
        last = await send(method, at, last.headers.get("etag") ?? "");
        expect([method, last.status]).toEqual([method, 200]);
      }
      expect((await send("GET", path)).headers.get("content-encoding")).toBe("gzip");
    },
  );

  it("probes answer", async () => {
    const api = await openApi("socket");
    expect((await api.send("HEAD", "/ping")).status).toBe(200);
    const { status, json } = await api.send("GET", "/health");
    expect([status, json]).toEqual([200, [{ name: "documents", status: "ok" }]]);
    expect((await api.send("GET", "/metrics")).json).toHaveProperty("memory.rss");
  });
});

describe("with settings", () => {
  const base = { name: "test", version: "1", checks: [], trustedProxies: [], signInLimit: 0 };

  async function ask(
    settings: Parameters<typeof middlewares>[0],
    path: string,
    peer: string,
    init: RequestInit = {},
  ): Promise<Response> {
    const request = new Request(`http://localhost${path}`, init);
    const handler = wrap(() => text("next"), ...middlewares(settings));
    return handler(request, createContext(request, { peer }));
  }

  it("metrics are for the machine itself, whatever a client claims", async () => {
    const headers = { "x-real-ip": "127.0.0.1", "x-forwarded-for": "127.0.0.1" };
    expect((await ask(base, "/metrics", "192.0.2.1", { headers })).status).toBe(403);
    expect((await ask(base, "/metrics", "127.0.0.1")).status).toBe(200);
    for (const name of ["forwarded", "via", "x-forwarded-for", "x-real-ip"]) {
      const sent = { headers: { [name]: "192.0.2.1" } };
      expect((await ask(base, "/metrics", "127.0.0.1", sent)).status).toBe(403);
      expect((await ask(base, "/articles", "127.0.0.1", sent)).status).toBe(200);
    }
    const behindProxy = { ...base, trustedProxies: ["127.0.0.1"] };
    const forwarded = { headers: { "x-forwarded-for": "192.0.2.1" } };
    expect((await ask(behindProxy, "/metrics", "127.0.0.1", forwarded)).status).toBe(403);
  });

  it("health is 503 when a check fails", async () => {
    const check = (): never => {
      throw new Error("disk full");
    };
    const settings = { ...base, checks: [{ name: "documents", check }] };
    expect((await ask(settings, "/health", "192.0.2.1")).status).toBe(503);
  });

  it("sign-ins are limited by address, with a problem as the answer", async () => {
    const handler = wrap(() => text("next"), ...middlewares({ ...base, signInLimit: 2 }));
    const send = async (method: string, path: string, peer: string): Promise<Response> => {
      const request = new Request(`http://localhost${path}`, { method });
      return handler(request, createContext(request, { peer }));
    };
    const statuses: number[] = [];
    for (const path of ["/auth", "/auth/", "/auth"]) {
      statuses.push((await send("POST", path, "192.0.2.1")).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await send("PUT", "/users/me/password", "192.0.2.1");
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    for (const [method, path] of [
      ["POST", "/password-resets"],
      ["GET", "/password-resets/token"],
      ["PUT", "/password-resets/token/"],
    ] as const) {
      expect((await send(method, path, "192.0.2.1")).status).toBe(429);
    }
    for (const [method, path] of [
      ["POST", "/%61uth"],
      ["PUT", "/%75sers/me/%70assword"],
      ["PUT", "/users/%00/%70assword"],
      ["GET", "/%70assword%2Dresets/token"],
    ] as const) {
      expect((await send(method, path, "192.0.2.1")).status).toBe(429);
    }
    expect((await send("POST", "/auth", "192.0.2.2")).status).toBe(200);
    expect((await send("POST", "/users", "192.0.2.1")).status).toBe(200);
  });
});

it("the API itself limits sign-ins only when it is told so", async () => {
  const api = await openApi();
  for (let round = 0; round < 40; round += 1) {
    const form = { access_token: "wrong" };
    expect((await api.send("POST", "/auth", { form })).status).toBe(401);
  }
});
