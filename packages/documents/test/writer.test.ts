import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defineCollection, openStore, type Transaction } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  text: string;
}

const notes = defineCollection<Note>("notes", { unique: ["text"], search: ["text"] });

async function openFile() {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  onTestFinished(() => store.close());
  return { path, store, collection: store.collection(notes) };
}

/**
 * Counts the frames of the write-ahead log that end a transaction (sqlite.org/fileformat2.html,
 * 4.1).
 */
function countCommits(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const frame = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let offset = 32; offset + frame <= log.length; offset += frame) {
    if (log.readUInt32BE(offset + 4) !== 0) commits += 1;
  }
  return commits;
}

describe("Changes of one turn of the event loop", () => {
  it("share one commit, and one that fails fails alone", async () => {
    const { path, collection } = await openFile();
    const before = countCommits(path);
    const texts = Array.from({ length: 64 }, (_, index) => `note ${index === 40 ? 7 : index}`);
    const results = await Promise.allSettled(texts.map((text) => collection.insert({ text })));
    expect(countCommits(path) - before).toBe(1);
    const failed = results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
    expect(failed).toEqual([40]);
    expect(results[40]).toMatchObject({ reason: { code: "ERR_DOCUMENTS_UNIQUE" } });
    expect(await collection.count()).toBe(63);
    expect(await collection.count({ where: {} })).toBe(63);
    expect(await collection.count({ q: "note" })).toBe(63);
  });

  it("of many kinds share one commit, each with its own outcome", async () => {
    const { path, collection } = await openFile();
    const { id } = await collection.insert({ text: "first" });
    const before = countCommits(path);
    const results = await Promise.allSettled([
      collection.update(id, { text: "second" }),
      collection.update(id, { text: "third" }, { ifVersion: 1 }),
      collection.insertMany([{ text: "a" }, { text: "second" }]),
      collection.insertMany([{ text: "a" }, { text: "b" }]),
      collection.update(id, () => {
        throw new Error("no");
      }),
      collection.remove(id, { ifVersion: 2 }),
      collection.insert({ text: "second" }),
      collection.removeMany({ where: { text: "a" } }),
    ]);
    expect(results.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      false,
      false,
      true,
      false,
      true,
      true,
      true,
    ]);
    expect(countCommits(path) - before).toBe(1);
    expect((await collection.find({ sort: ["text"] })).map(({ text }) => text)).toEqual([
      "b",
      "second",
    ]);
    expect(await collection.count()).toBe(2);
  });

  it("are not visible before they are durable", async () => {
    const { path, collection } = await openFile();
    const insert = collection.insert({ text: "a" });
    expect(await collection.count()).toBe(0);
    await insert;
    expect(countCommits(path)).toBeGreaterThan(0);
    expect(await collection.count()).toBe(1);
  });

  it("that are more than one batch all come through", async () => {
    const { collection } = await openFile();
    const inserts = Array.from({ length: 1500 }, (_, index) =>
      collection.insert({ text: `n${index}` }),
    );
    await Promise.all(inserts);
    expect(await collection.count()).toBe(1500);
  });

  it.each([
    [512, 1],
    [513, 2],
  ])("share one commit up to 512 of them: %d take %d", async (changes, commits) => {
    const { path, collection } = await openFile();
    const before = countCommits(path);
    const texts = Array.from({ length: changes }, (_, index) => `n${index}`);
    await Promise.all(texts.map((text) => collection.insert({ text })));
    expect(countCommits(path) - before).toBe(commits);
  });

  it("may be asked for by a function that changes another document", async () => {
    const { collection } = await openFile();
    const { id } = await collection.insert({ text: "a" });
    const inner: Promise<unknown>[] = [];
    await collection.update(id, (note) => {
      inner.push(collection.insert({ text: "inner" }), collection.count(), collection.get(id));
      return { ...note, text: "b" };
    });
    expect(await Promise.all(inner)).toMatchObject([{ text: "inner" }, 1, { text: "a" }]);
  });
});

describe("Transactions that wait for their turn", () => {
  const add = (text: string) => async (tx: Transaction) => {
    await tx.collection(notes).insert({ text });
    return tx.collection(notes).count();
  };

  /** Stops the clock, so that no turn takes long on a machine with much to do. */
  function stopClock() {
    let now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    return (milliseconds: number) => void (now += milliseconds);
  }

  it("share one commit with those before them, and one that fails fails alone", async () => {
    stopClock();
    const { path, store, collection } = await openFile();
    const before = countCommits(path);
    const results = await Promise.allSettled([
      store.transaction(add("a")),
      collection.insert({ text: "b" }),
      store.transaction(async (tx) => {
        await add("c")(tx);
        throw new Error("no");
      }),
      store.transaction(add("a")),
      collection.insert({ text: "a" }),
      store.transaction(add("d")),
    ]);
    expect(countCommits(path) - before).toBe(1);
    expect(results).toMatchObject([
      { value: 1 },
      { value: { text: "b" } },
      { reason: { message: "no" } },
      { reason: { code: "ERR_DOCUMENTS_UNIQUE" } },
      { reason: { code: "ERR_DOCUMENTS_UNIQUE" } },
      { value: 3 },
    ]);
    expect((await collection.find({ sort: ["text"] })).map(({ text }) => text)).toEqual([
      "a",
      "b",
      "d",
    ]);
    expect(await collection.count()).toBe(3);
  });

  it("are not visible before the commit that they share", async () => {
    stopClock();
    const { store, collection } = await openFile();
    const counts: number[] = [];
    await Promise.all([
      store.transaction(add("a")),
      store.transaction(async (tx) => {
        counts.push(await collection.count(), await tx.collection(notes).count());
      }),
    ]);
    expect(counts).toEqual([0, 1]);
  });

  it("keep what they did when the engine fails in one of them", async () => {
    stopClock();
    const { path, store, collection } = await openFile();
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER fail AFTER INSERT ON notes WHEN new.doc LIKE '%poison%'
      BEGIN SELECT json_extract('{', '$'); END`);
    other.close();
    const results = await Promise.allSettled([
      store.transaction(add("a")),
      store.transaction((tx) => add("poison")(tx).catch(() => 0)),
      store.transaction(add("b")),
      collection.insert({ text: "poison" }),
      store.transaction(add("c")),
    ]);
    const failed = { reason: { code: "ERR_DOCUMENTS_ENGINE" } };
    expect(results).toMatchObject([{ value: 1 }, failed, { value: 2 }, failed, { value: 3 }]);
    expect(await collection.count({ where: {} })).toBe(3);
  });

  it("refuse a change that is asked for after their end, while another one has its turn", async () => {
    const { store, collection } = await openFile();
    let late: unknown;
    await Promise.all([
      store.transaction((tx) => {
        void setTimeout(1)
          .then(() => tx.collection(notes).insert({ text: "late" }))
          .catch((error: unknown) => (late = error));
      }),
      store.transaction(async (tx) => {
        await setTimeout(50);
        await add("a")(tx);
      }),
    ]);
    expect(late).toMatchObject({ code: "ERR_DOCUMENTS_TRANSACTION" });
    expect(await collection.find()).toMatchObject([{ text: "a" }]);
  });

  it("may wait for a change that was asked for before, and then run again alone", async () => {
    stopClock();
    const { path, store, collection } = await openFile();
    const before = countCommits(path);
    const first = collection.insert({ text: "a" });
    let runs = 0;
    const second = store.transaction(async (tx) => {
      runs += 1;
      await add(`b${runs}`)(tx);
      await first;
      return tx.collection(notes).count();
    });
    expect(await second).toBe(2);
    expect(runs).toBe(2);
    expect(countCommits(path) - before).toBe(2);
    expect((await collection.find()).map(({ text }) => text).toSorted()).toEqual(["a", "b2"]);
  });

  it("run in the context of who asked for them", async () => {
    const { store } = await openFile();
    const caller = new AsyncLocalStorage<string>();
    const ask = (name: string) =>
      caller.run(name, () => store.transaction(() => caller.getStore()));
    expect(await Promise.all([ask("a"), ask("b"), ask("c")])).toEqual(["a", "b", "c"]);
  });

  it("have a commit alone for a while after one that took long", async () => {
    const advance = stopClock();
    const { path, store } = await openFile();
    await store.transaction(() => advance(11));
    const before = countCommits(path);
    await Promise.all([store.transaction(add("a")), store.transaction(add("b"))]);
    expect(countCommits(path) - before).toBe(2);
    advance(1000);
    await Promise.all([store.transaction(add("c")), store.transaction(add("d"))]);
    expect(countCommits(path) - before).toBe(3);
  });

  it("have a commit alone where they may take long", async () => {
    stopClock();
    const { path, store } = await openFile();
    const before = countCommits(path);
    await Promise.all([
      store.transaction(add("a")),
      store.transaction(add("b"), { timeout: 60_001 }),
    ]);
    expect(countCommits(path) - before).toBe(2);
  });
});

describe("A failure of the engine", () => {
  it("rejects every change of the batch, and the next ones succeed", async () => {
    const { path, store, collection } = await openFile();
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER fail AFTER INSERT ON notes WHEN new.doc LIKE '%poison%'
      BEGIN SELECT json_extract('{', '$'); END`);
    const results = await Promise.allSettled([
      collection.insert({ text: "good" }),
      collection.insert({ text: "poison" }),
      collection.insert({ text: "fine" }),
    ]);
    expect(results).toMatchObject(
      Array.from({ length: 3 }, () => ({ reason: { code: "ERR_DOCUMENTS_ENGINE" } })),
    );
    expect(await collection.count()).toBe(0);
    const work = store.transaction(async (tx) => {
      await tx
        .collection(notes)
        .insert({ text: "poison" })
        .catch(() => undefined);
      await tx
        .collection(notes)
        .insert({ text: "after" })
        .catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({ code: "ERR_DOCUMENTS_ENGINE" });
    other.close();
    await collection.insert({ text: "good" });
    expect(await collection.count({ where: {} })).toBe(1);
    expect(await collection.count()).toBe(1);
  });
});

describe("A failure of the engine in one batch", () => {
  it("does not touch the next batch and the transaction after it", async () => {
    const { path, store, collection } = await openFile();
    const other = new DatabaseSync(path);
    other.exec(`CREATE TRIGGER fail AFTER INSERT ON notes WHEN new.doc LIKE '%poison%'
      BEGIN SELECT json_extract('{', '$'); END`);
    other.close();
    const texts = Array.from({ length: 520 }, (_, index) =>
      index === 300 ? "poison" : `${index}`,
    );
    const inserts = texts.map((text) => collection.insert({ text }));
    const transaction = store.transaction((tx) => tx.collection(notes).insert({ text: "after" }));
    const results = await Promise.allSettled(inserts);
    const statuses = results.map(({ status }) => status);
    expect(statuses.slice(0, 512)).toEqual(Array.from({ length: 512 }, () => "rejected"));
    expect(statuses.slice(512)).toEqual(Array.from({ length: 8 }, () => "fulfilled"));
    expect(await transaction).toMatchObject({ text: "after" });
    expect(await collection.count()).toBe(9);
    expect(await collection.count({ where: {} })).toBe(9);
  });
});

describe("Another process that writes", () => {
  it("is waited for without holding up reads, and not forever", async () => {
    const path = join(temporaryFolder(), "a.db");
    const store = await openStore(`sqlite:${path}`, { collections: [notes], busyTimeout: 30 });
    onTestFinished(() => store.close());
    const collection = store.collection(notes);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const code = "ERR_DOCUMENTS_BUSY";
    const [, , count] = await Promise.all([
      expect(collection.insert({ text: "a" })).rejects.toMatchObject({ code }),
      expect(store.transaction(() => 1)).rejects.toMatchObject({ code }),
      collection.count(),
    ]);
    expect(count).toBe(0);
    const patient = collection.insert({ text: "b" });
    setImmediate(() => {
      other.exec("COMMIT");
      other.close();
    });
    expect(await patient).toMatchObject({ text: "b" });
  });
});
