import { describe, expect, it, onTestFinished } from "vitest";
import { type ChangeRecord, defineCollection, openStore, type Store } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes", { changes: "ids" });
/** Longer than a test may take. */
const pollInterval = 600_000;
const listening =
  "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()";

async function open(url: string): Promise<Store> {
  const store = await openStore(url, { collections: [notes] });
  onTestFinished(() => store.close());
  return store;
}

async function next(changes: AsyncIterator<ChangeRecord>): Promise<string> {
  const { value } = await changes.next();
  return String(Object(value).id);
}

describe.skipIf(noPostgres !== undefined)("Anyone who follows the feed", () => {
  it("hears of the changes of others without asking, also in a transaction", async () => {
    const url = await newDatabase();
    const [writer, reader] = [await open(url), await open(url)];
    const changes = reader.changes({ pollInterval })[Symbol.asyncIterator]();
    const first = next(changes);
    await expect.poll(() => runSql(url, listening)).toHaveLength(1);
    const one = await writer.collection(notes).insert({ text: "a" });
    expect(await first).toBe(one.id);
    const second = next(changes);
    const two = await writer.transaction((tx) => tx.collection(notes).insert({ text: "b" }));
    expect(await second).toBe(two.id);
  });

  it("listens again after the connection was lost, and misses nothing in the meantime", async () => {
    const url = await newDatabase();
    const [writer, reader] = [await open(url), await open(url)];
    const seen: string[] = [];
    const consuming = reader.consume(
      "all",
      (changes) => {
        seen.push(...changes.map(({ id }) => id));
      },
      { pollInterval },
    );
    await expect.poll(() => runSql(url, listening)).toHaveLength(1);
    await runSql(url, `SELECT pg_terminate_backend(pid) FROM (${listening}) AS listeners`);
    const { id } = await writer.collection(notes).insert({ text: "a" });
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual([id]);
    await reader.close();
    await consuming;
    await expect.poll(() => runSql(url, listening)).toEqual([]);
  });

  it("holds no connection when nobody follows any more", async () => {
    const url = await newDatabase();
    const store = await open(url);
    const stop = new AbortController();
    const following = Array.fromAsync(store.changes({ signal: stop.signal, pollInterval }));
    await expect.poll(() => runSql(url, listening)).toHaveLength(1);
    stop.abort();
    await following;
    await expect.poll(() => runSql(url, listening)).toEqual([]);
  });
});
