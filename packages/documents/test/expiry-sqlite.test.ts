import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Session {
  key: string;
  until?: unknown;
}

const startTime = Date.parse("2030-01-01T00:00:00.000Z");
const options = { unique: ["key"], search: ["key"] } as const;
const sessions = defineCollection<Session>("sessions", {
  ...options,
  expires: { field: "until", after: 1000 },
});

beforeEach(() => {
  vi.useFakeTimers({ now: startTime, toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("A store with documents that expire", () => {
  it("removes them for good within a minute, and no other one", async () => {
    const path = join(temporaryFolder(), "a.db");
    const store = await openStore(`sqlite:${path}`, { collections: [sessions] });
    const collection = store.collection(sessions);
    await collection.insertMany(
      Array.from({ length: 2500 }, (_, index) => ({ key: `key${index}`, until: startTime })),
    );
    await collection.insert({ key: "stays", until: startTime + 1_000_000 });
    vi.advanceTimersByTime(60_000);
    // Waits for its turn behind the sweep, whose batches it may come between.
    while ((await stored(path)) > 1) await collection.count();
    await store.close();
    const database = new DatabaseSync(path);
    expect(database.prepare('SELECT count(*) AS n FROM "sessions:search"').get()).toEqual({ n: 1 });
    expect(database.prepare('SELECT documents AS n FROM "fetchwork:collections"').get()).toEqual({
      n: 1,
    });
    database.close();
  });

  it("computes the times again when they are defined differently", async () => {
    const url = `sqlite:${join(temporaryFolder(), "a.db")}`;
    const plain = defineCollection<Session>("sessions", options);
    const later = defineCollection<Session>("sessions", {
      ...options,
      expires: { field: "until", after: 9000 },
    });
    const count = async (definition: typeof plain): Promise<number> => {
      await using store = await openStore(url, { collections: [definition] });
      return await store.collection(definition).count();
    };
    const first = await openStore(url, { collections: [plain] });
    await first.collection(plain).insert({ key: "a", until: startTime });
    await first.close();
    vi.setSystemTime(startTime + 5000);
    expect(await count(plain)).toBe(1);
    expect(await count(sessions)).toBe(0);
    expect(await count(later)).toBe(1);
    expect(await count(plain)).toBe(1);
  });
});

async function stored(path: string): Promise<number> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("SELECT count(*) AS n FROM sessions").get();
  database.close();
  return Number(row?.["n"]);
}
