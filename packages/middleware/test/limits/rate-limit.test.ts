import { createContext, text, wrap, type Handler } from "@fetchwork/http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { memoryRateLimitStore } from "../../src/limits/memory-rate-limit-store.ts";
import { rateLimit, type RateLimitOptions } from "../../src/limits/rate-limit.ts";
import type { RateLimitStore, RateLimitVerdict } from "../../src/limits/rate-limit-store.ts";
import { realIp } from "../../src/address/real-ip.ts";
import { redisRateLimitStore } from "../../src/limits/redis-rate-limit-store.ts";
import { redisIsMissing, startRedis, type TestRedis } from "./redis-server.ts";

interface Seen {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string>;
}

async function ask(
  handler: Handler,
  peer = "1.2.3.4",
  sent: Record<string, string> = {},
): Promise<Seen> {
  const request = new Request("http://localhost/", { headers: sent });
  const response = await handler(
    request,
    createContext(request, { peer, reportError: () => undefined }),
  );
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, body: await response.text(), headers };
}

function clock(): { now: () => number; advance: (milliseconds: number) => void } {
  let time = 1_000_000;
  return {
    now: () => time,
    advance: (milliseconds) => {
      time += milliseconds;
    },
  };
}

const next: Handler = () => text("next");

describe("rateLimit", () => {
  it.each<[Partial<RateLimitOptions>]>([
    [{ limit: 0 }],
    [{ limit: 1.5 }],
    [{ limit: Infinity }],
    [{ window: 0 }],
    [{ window: 31_536_000_001 }],
    [{ name: 'a"b' }],
    [{ name: "" }],
    [{ name: 7 as never }],
    [{ trustedProxies: ["x"] }],
  ])("refuses %j", (options) => {
    expect(() => rateLimit({ limit: 1, ...options })).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("refuses what is beyond the limit with 429 and Retry-After", async () => {
    const { now, advance } = clock();
    const handler = wrap(next, rateLimit({ limit: 2, store: memoryRateLimitStore({ now }) }));
    expect((await ask(handler)).headers).toMatchObject({
      "ratelimit-policy": '"default";q=2;w=60',
      ratelimit: expect.stringMatching(/^"default";r=1;t=\d+$/),
    });
    expect((await ask(handler)).headers["ratelimit"]).toMatch(/^"default";r=0;t=\d+$/);
    const refused = await ask(handler);
    const { ratelimit, "retry-after": retryAfter } = refused.headers;
    expect(refused).toMatchObject({
      status: 429,
      body: "Too Many Requests\n",
      headers: {
        "ratelimit-policy": '"default";q=2;w=60',
        "content-type": "text/plain; charset=utf-8",
      },
    });
    expect(ratelimit).toBe(`"default";r=0;t=${retryAfter}`);
    expect(retryAfter).toBe("60");
    advance(59_999);
    expect(await ask(handler)).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    advance(1);
    expect((await ask(handler)).status).toBe(200);
  });

  it("responds with the option respond, with Retry-After and the limits", async () => {
    const respond = (request: Request): Response => text(`not ${request.method}`, { status: 403 });
    const handler = wrap(next, rateLimit({ limit: 1, respond }));
    await ask(handler);
    expect(await ask(handler)).toMatchObject({
      status: 403,
      body: "not GET",
      headers: {
        "retry-after": expect.stringMatching(/^\d+$/),
        "ratelimit-policy": '"default";q=1;w=60',
      },
    });
    const wrong = { limit: 1, respond: 429 };
    expect(() => Reflect.apply(rateLimit, undefined, [wrong])).toThrow(
      /respond must be .*, got 429/,
    );
  });

  it("counts each client separately", async () => {
    const handler = wrap(next, rateLimit({ limit: 1 }));
    expect((await ask(handler, "1.2.3.4")).status).toBe(200);
    expect((await ask(handler, "1.2.3.4")).status).toBe(429);
    expect((await ask(handler, "::ffff:1.2.3.4")).status).toBe(429);
    expect((await ask(handler, "1.2.3.5")).status).toBe(200);
    expect((await ask(handler, "not-an-ip")).status).toBe(200);
    expect((await ask(handler, "also-not")).status).toBe(429);
  });

  it.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", 429],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", 200],
  ])("counts IPv6 by /64: %s and %s", async (first, second, status) => {
    const handler = wrap(next, rateLimit({ limit: 1 }));
    await ask(handler, first);
    expect((await ask(handler, second)).status).toBe(status);
  });

  it("uses the address that realIp found", async () => {
    const handler = wrap(next, realIp({ trustedProxies: ["10.0.0.1"] }), rateLimit({ limit: 1 }));
    expect((await ask(handler, "10.0.0.1", { "x-forwarded-for": "1.1.1.1" })).status).toBe(200);
    expect((await ask(handler, "10.0.0.1", { "x-forwarded-for": "2.2.2.2" })).status).toBe(200);
    expect((await ask(handler, "9.9.9.9", { "x-forwarded-for": "3.3.3.3" })).status).toBe(200);
    expect((await ask(handler, "9.9.9.9", { "x-forwarded-for": "4.4.4.4" })).status).toBe(429);
  });

  it("uses a custom key, also a promised one, and none", async () => {
    const key = (request: Request): string | undefined => request.headers.get("x-key") ?? undefined;
    const plain = wrap(next, rateLimit({ limit: 1, key }));
    const promised = wrap(next, rateLimit({ limit: 1, key: async (request) => key(request) }));
    for (const handler of [plain, promised]) {
      expect((await ask(handler, "", { "x-key": "a" })).status).toBe(200);
      expect((await ask(handler, "", { "x-key": "a" })).status).toBe(429);
      expect((await ask(handler, "", { "x-key": "b" })).status).toBe(200);
      const free = await ask(handler);
      expect([free.status, free.headers["ratelimit"]]).toEqual([200, undefined]);
    }
  });

  it("keeps long keys short and apart", async () => {
    const kept: string[] = [];
    const store: RateLimitStore = {
      take: (key) => {
        kept.push(key);
        return { isAllowed: true, remaining: 1, resetAfter: 1 };
      },
    };
    const handler = wrap(
      next,
      rateLimit({ limit: 1, store, key: (request) => request.headers.get("x-key") ?? "" }),
    );
    await ask(handler, "", { "x-key": `${"a".repeat(5000)}1` });
    await ask(handler, "", { "x-key": `${"a".repeat(5000)}2` });
    expect(new Set(kept).size).toBe(2);
    expect(Math.max(...kept.map((key) => key.length))).toBeLessThan(160);
  });

  it("lists the policies of several limits", async () => {
    const handler = wrap(
      next,
      rateLimit({ limit: 5, name: "minute" }),
      rateLimit({ limit: 1, name: "day", window: 86_400_000 }),
    );
    expect((await ask(handler)).headers["ratelimit-policy"]).toBe(
      '"day";q=1;w=86400, "minute";q=5;w=60',
    );
    const refused = await ask(handler);
    expect([refused.status, refused.headers["ratelimit"]]).toEqual([
      429,
      expect.stringMatching(/^"day";r=0;t=\d+, "minute";r=3;t=\d+$/),
    ]);
  });

  it("refuses when the store fails, and reports the error", async () => {
    const broken: RateLimitStore[] = [
      { take: () => Promise.reject(new Error("down")) },
      {
        take: () => {
          throw new Error("down");
        },
      },
    ];
    for (const store of broken) {
      const handler = wrap(next, rateLimit({ limit: 1, store }));
      const refused = await ask(handler);
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
      const reported = vi.fn<(error: unknown) => void>();
      const request = new Request("http://localhost/");
      await handler(request, createContext(request, { reportError: reported }));
      await expect.poll(() => reported).toHaveBeenCalledWith(expect.any(Error));
    }
  });

  it("responds at once with a store in memory", () => {
    const request = new Request("http://localhost/");
    const result = wrap(next, rateLimit({ limit: 1 }))(request, createContext(request));
    expect(result).toBeInstanceOf(Response);
  });
});

describe("memoryRateLimitStore", () => {
  it("lets no window hold more than the limit, and no longer than it must", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5000 }),
        (pauses, limit, window) => {
          const { now, advance } = clock();
          const store = memoryRateLimitStore({ now });
          const passed: number[] = [];
          for (const pause of pauses) {
            advance(pause);
            const verdict = store.take("a", { limit, window });
            if (verdict instanceof Promise) throw new Error("a promise");
            const recent = passed.filter((time) => time > now() - window).length;
            const longer = limit <= 10 ? window : window * 1.1;
            const recentParts = passed.filter((time) => time > now() - longer).length;
            if (verdict.isAllowed) {
              expect(recent).toBeLessThan(limit);
              passed.push(now());
            } else {
              expect(recentParts).toBeGreaterThanOrEqual(limit);
              expect(verdict.remaining).toBe(0);
            }
            expect(verdict.resetAfter).toBeGreaterThan(0);
            expect(verdict.resetAfter).toBeLessThanOrEqual(window);
          }
        },
      ),
    );
  });

  it("tells when the oldest request leaves the window, also after a refusal", () => {
    const { now, advance } = clock();
    const store = memoryRateLimitStore({ now });
    const take = (): RateLimitVerdict | Promise<RateLimitVerdict> =>
      store.take("a", { limit: 2, window: 1000 });
    expect(take()).toEqual({ isAllowed: true, remaining: 1, resetAfter: 1000 });
    advance(500);
    expect(take()).toEqual({ isAllowed: true, remaining: 0, resetAfter: 500 });
    advance(100);
    expect(take()).toEqual({ isAllowed: false, remaining: 0, resetAfter: 400 });
    advance(400);
    expect(take()).toEqual({ isAllowed: true, remaining: 0, resetAfter: 500 });
  });

  it("never names more time than the window, whatever its clock shows", () => {
    // Milliseconds with a fraction, for which adding the window and taking the time off again
    // is more than the window.
    for (const time of [57_170.593_810_991_32, 2_059_116.357_649_041]) {
      const store = memoryRateLimitStore({ now: () => time });
      const verdict = store.take("a", { limit: 2, window: 60_000 });
      expect(verdict, `at ${time} ms`).toMatchObject({ resetAfter: 60_000 });
    }
  });

  it("drops the key that was unused for longest, and the expired ones", () => {
    const { now, advance } = clock();
    const store = memoryRateLimitStore({ now, maxKeys: 2 });
    const quota = { limit: 1, window: 1000 };
    const isAllowed = (key: string): boolean => {
      const verdict = store.take(key, quota);
      return !(verdict instanceof Promise) && verdict.isAllowed;
    };
    expect(["a", "b", "a", "c", "a"].map(isAllowed)).toEqual([true, true, false, true, false]);
    expect(isAllowed("b")).toBe(true);
    advance(1101);
    expect(["a", "b", "c"].map(isAllowed)).toEqual([true, true, true]);
  });

  it("stays small however many keys there are", () => {
    const store = memoryRateLimitStore({ maxKeys: 1000 });
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 200_000; index += 1) {
      void store.take(`key ${index}`, { limit: 5, window: 60_000 });
    }
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1024 * 1024);
  });

  it("refuses a maximum of no keys", () => {
    expect(() => memoryRateLimitStore({ maxKeys: 0 })).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });
});

// Needs Debian's redis-server; `CI=true` makes its absence a failure.
describe.skipIf(redisIsMissing())("redisRateLimitStore on a real server", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());

  it("counts exactly however many ask at once", async () => {
    const stores = [1, 2, 3].map(() => redisRateLimitStore(redis.client));
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, async (_, index) =>
        stores[index % 3]?.take("busy", { limit: 50, window: 60_000 }),
      ),
    );
    const allowed = verdicts.filter((verdict) => verdict?.isAllowed === true);
    expect(allowed).toHaveLength(50);
    expect(new Set(allowed.map((verdict) => verdict?.remaining)).size).toBe(50);
    for (const verdict of verdicts) {
      expect(verdict?.resetAfter).toBeGreaterThan(50_000);
      expect(verdict?.resetAfter).toBeLessThanOrEqual(60_000);
    }
  });

  it("keeps a key for its window and no longer", async () => {
    const store = redisRateLimitStore(redis.client, { prefix: "test:" });
    await store.take("a", { limit: 1, window: 60_000 });
    const left = Number(await redis.client.sendCommand(["PTTL", "test:v2:60000:a"]));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_001);
  });

  it("lets requests pass again when they have left the window", async () => {
    const store = redisRateLimitStore(redis.client);
    const quota = { limit: 1, window: 100 };
    expect((await store.take("short", quota)).isAllowed).toBe(true);
    const refused = await store.take("short", quota);
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0 });
    await expect.poll(async () => (await store.take("short", quota)).isAllowed).toBe(true);
  });

  it("counts more than ten requests in parts that leave with their last one", async () => {
    const store = redisRateLimitStore(redis.client, { prefix: "parts:" });
    const quota = { limit: 11, window: 60_000 };
    for (let count = 0; count < 12; count += 1) await store.take("a", quota);
    expect(await redis.client.sendCommand(["HLEN", "parts:v2:60000:a"])).toBe(1);
    const [part] = (await redis.client.sendCommand(["HKEYS", "parts:v2:60000:a"])) as string[];
    const last = Number(part) - 59_000_000;
    await redis.client.sendCommand(["HSET", "parts:v2:60000:a", String(part), `${last} 11`]);
    const refused = await store.take("a", quota);
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0 });
    expect(refused.resetAfter).toBeLessThanOrEqual(1_000);
    await redis.client.sendCommand([
      "HSET",
      "parts:v2:60000:a",
      String(part),
      `${last - 1_000_000} 11`,
    ]);
    expect(await store.take("a", quota)).toMatchObject({ isAllowed: true, remaining: 10 });
  });

  it("leaves the counts of an earlier form alone", async () => {
    const store = redisRateLimitStore(redis.client, { prefix: "old:" });
    await redis.client.sendCommand(["HSET", "old:60000:a", "29000000", "3"]);
    const quota = { limit: 5, window: 60_000 };
    expect(await store.take("a", quota)).toMatchObject({ isAllowed: true, remaining: 4 });
    expect(await redis.client.sendCommand(["HLEN", "old:60000:a"])).toBe(1);
  });

  it("survives a server that forgot the script", async () => {
    const store = redisRateLimitStore(redis.client);
    const quota = { limit: 5, window: 60_000 };
    await store.take("script", quota);
    await redis.client.sendCommand(["SCRIPT", "FLUSH"]);
    expect((await store.take("script", quota)).remaining).toBe(3);
  });

  it("accepts a client with the shape of ioredis", async () => {
    const store = redisRateLimitStore({
      call: (command, ...args) => redis.client.sendCommand([command, ...args]),
    });
    const handler = wrap(next, rateLimit({ limit: 1, store }));
    expect((await ask(handler, "9.9.9.9")).status).toBe(200);
    expect((await ask(handler, "9.9.9.9")).status).toBe(429);
  });

  it("refuses what is not a client", () => {
    expect(() => redisRateLimitStore(JSON.parse("{}"))).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("responds with 503 when the server is gone", async () => {
    const gone = await startRedis();
    const store = redisRateLimitStore(gone.client);
    const handler = wrap(next, rateLimit({ limit: 5, store }));
    expect((await ask(handler)).status).toBe(200);
    await gone[Symbol.asyncDispose]();
    expect((await ask(handler)).status).toBe(503);
  });
});
