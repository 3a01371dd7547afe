import { openStore, type Store } from "@fetchwork/documents";
import { text } from "@fetchwork/http";
import { memoryRateLimitStore, rateLimit, type RateLimitStore } from "@fetchwork/middleware";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  documentsRateLimitStore,
  rateLimitCollection,
} from "../../src/accounts/documents-rate-limit-store.ts";

const start = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: start, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

async function memory(): Promise<Store> {
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  return store;
}

describe("documentsRateLimitStore", () => {
  it("lets as many pass as the limit says, from whichever process they come", async () => {
    const store = await memory();
    const processes: readonly RateLimitStore[] = [1, 2, 3, 4].map(() =>
      documentsRateLimitStore(store),
    );
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        processes[index % 4]?.take("a", { limit: 7, window: 60_000 }),
      ),
    );
    expect(verdicts.filter((verdict) => verdict?.isAllowed === true)).toHaveLength(7);
    expect(await processes[0]?.take("b", { limit: 7, window: 60_000 })).toMatchObject({
      isAllowed: true,
      remaining: 6,
    });
  });

  it("says of any series of requests what a store in memory says", async () => {
    const store = await memory();
    let series = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 10, max: 90_000 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 25 }),
        async (limit, window, waits) => {
          series += 1;
          const one = documentsRateLimitStore(store);
          const other = memoryRateLimitStore({ now: () => Date.now() });
          for (const wait of waits) {
            vi.advanceTimersByTime(wait);
            const key = `key ${series}`;
            expect(await one.take(key, { limit, window })).toEqual(
              await other.take(key, { limit, window }),
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("forgets keys whose window is over, and shows them to nobody", async () => {
    const store = await memory();
    const limits = documentsRateLimitStore(store);
    await limits.take("sign-in:192.0.2.7", { limit: 1, window: 1_000 });
    const documents = store.collection(rateLimitCollection);
    expect(JSON.stringify(await documents.find({}))).not.toContain("192.0.2.7");
    vi.advanceTimersByTime(1_001);
    expect(await documents.find({})).toEqual([]);
  });

  it("serves the middleware", async () => {
    const store = documentsRateLimitStore(await memory());
    const handler = rateLimit({ limit: 1, store, key: () => "me" })(() => text("passed"));
    const context = { waitUntil: () => undefined } as unknown as Parameters<typeof handler>[1];
    const statuses: number[] = [];
    for (let time = 0; time < 2; time += 1) {
      statuses.push((await handler(new Request("http://localhost"), context)).status);
    }
    expect(statuses).toEqual([200, 429]);
  });
});
