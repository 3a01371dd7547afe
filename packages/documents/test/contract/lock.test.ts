import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Store } from "../../src/index.ts";
import { allEngines, postgresUrlOf } from "../open-for-test.ts";
import { runSql } from "../postgres-server.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe.each(allEngines)("A lock in %s", (_name, open) => {
  it.each([
    ["", {}],
    ["x".repeat(201), {}],
    ["\ud800", {}],
    ["a", { wait: -1 }],
    ["a", { wait: Number.NaN }],
    ["a", { expiry: 99 }],
  ])("is refused with the name %j and the options %j", async (name, options) => {
    const store = await open();
    await expect(store.lock(name, () => undefined, options)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
      name: "DocumentsTypeError",
    });
  });

  it("is refused while it is held, and free afterwards", async () => {
    const store = await open();
    await store.lock("a", async () => {
      await expect(store.lock("a", () => 1, { wait: 0 })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_LOCKED",
      });
      expect(await store.lock("b", () => 2, { wait: 0 })).toBe(2);
    });
    expect(await store.lock("a", () => 3, { wait: 0 })).toBe(3);
  });

  it("is free after work that failed", async () => {
    const store = await open();
    const work = (): never => {
      throw new Error("no");
    };
    await expect(store.lock("a", work)).rejects.toThrow("no");
    expect(await store.lock("a", () => 1, { wait: 0 })).toBe(1);
  });

  it("lets one at a time through", async () => {
    const store = await open();
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await setImmediate();
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => store.lock("a", work)));
    expect([most, inside]).toEqual([1, 0]);
  });

  it("goes to somebody else when its holder stood still, who is told", async () => {
    const store = await open();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    let signal: AbortSignal | undefined;
    const held = store.lock(
      "a",
      async (lost) => {
        signal = lost;
        // The process stands still: time passes without a renewal.
        vi.setSystemTime(Date.now() + 1000);
        await store.lock("a", () => undefined, { wait: 0 });
        vi.advanceTimersByTime(400);
        await new Promise((resolve) => {
          lost.addEventListener("abort", resolve);
        });
      },
      { expiry: 1000 },
    );
    await expect(held).rejects.toMatchObject({ code: "ERR_DOCUMENTS_LEASE" });
    expect(signal?.aborted).toBe(true);
  });

  it("is renewed while the work goes on", async () => {
    const store = await open();
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    await store.lock(
      "a",
      async (lost) => {
        for (let turn = 0; turn < 6; turn += 1) {
          vi.advanceTimersByTime(1000);
          await renewed(store, Date.now() + 3000);
          await expect(store.lock("a", () => 1, { wait: 0 })).rejects.toMatchObject({
            code: "ERR_DOCUMENTS_LOCKED",
          });
        }
        expect(lost.aborted).toBe(false);
      },
      { expiry: 3000 },
    );
  });
});

/**
 * Waits until a renewal is there, before the clock goes on: clients of PostgreSQL may overtake each
 * other, while what SQLite is asked for happens in order. (`expect.poll` would move the clock.)
 */
async function renewed(store: Store, until: number): Promise<void> {
  const url = postgresUrlOf(store);
  if (url === undefined) return;
  const read = `SELECT until FROM "fetchwork:locks" WHERE name = 'a'`;
  const [row] = await runSql(url, read);
  if (Object(row).until !== String(until)) await renewed(store, until);
}
