import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type CollectionDefinition,
  defineCollection,
  openStore,
  type Store,
} from "../src/index.ts";
import { SlowReads } from "../src/engines/sqlite/threads/slow-reads.ts";
import { addChecksumFunction } from "./checksum-function.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  n: number;
  text: string;
  at?: { latitude: number; longitude: number };
  until?: number;
}

const notes = defineCollection<Note>("notes", { indexes: ["n"], search: ["text"], geo: ["at"] });
const documentCount = 200_000;
const partCount = 60_000;

/** Filled stores to copy: filling one takes longer than most reads. */
const originals = mkdtempSync(join(tmpdir(), "slow-reads-"));
afterAll(() => rmSync(originals, { recursive: true, force: true }));

/** Makes a store of many documents, by SQL, because it is the reading that is tested. */
async function fill(count: number, { isSearched = false } = {}): Promise<string> {
  const original = join(originals, `${count}-${isSearched}.db`);
  if (!existsSync(original)) {
    await (await openStore(`sqlite:${original}`, { collections: [notes] })).close();
    insert(original, count, { isSearched });
  }
  const path = join(temporaryFolder(), "a.db");
  copyFileSync(original, path);
  return path;
}

function insert(path: string, count: number, { isSearched = false } = {}): void {
  const database = new DatabaseSync(path);
  addChecksumFunction(database);
  database.exec(`
    WITH RECURSIVE
      counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count}),
      filled(id, version, created_at, updated_at, doc) AS (
        SELECT printf('id%08d', n), 1, printf('2026-01-01T00:%08dZ', n), '2026-01-01T00:00:00.000Z',
          json_object('n', n, 'text', printf('note %d', n), 'odd', json(iif(n % 2, 'true', 'false')))
        FROM counted
      )
    INSERT INTO notes (id, version, created_at, updated_at, doc, checksum)
    SELECT *, checksum_of(id, version, created_at, updated_at, doc) FROM filled;
    UPDATE "fetchwork:collections" SET documents = ${count} WHERE name = 'notes';
  `);
  if (isSearched) {
    database.exec(
      `INSERT INTO "notes:search" (rowid, text) SELECT seq, printf('  note  %d', seq) FROM notes`,
    );
  }
  database.close();
}

async function open(path: string): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  onTestFinished(() => store.close());
  return store;
}

/**
 * Does something while the event loop turns; tells how often it did, and how many reads other
 * threads were given.
 */
async function observe<R>(
  work: () => Promise<R>,
): Promise<{ result: R; turns: number; handedOver: number }> {
  const run = vi.spyOn(SlowReads.prototype, "run");
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work();
  isDone = true;
  const handedOver = run.mock.calls.length;
  run.mockRestore();
  return { result, turns, handedOver };
}

/**
 * Makes rows slow, whatever the machine: each look at the clock, which is one every 16 rows, finds
 * 0.1 ms gone.
 */
function slowClock(): void {
  let time = 0;
  const now = vi.spyOn(performance, "now").mockImplementation(() => (time += 0.1));
  onTestFinished(() => now.mockRestore());
}

describe("A read that takes long", () => {
  it("lets the event loop turn, and returns the same as one that does not", async () => {
    const store = await open(await fill(documentCount));
    const collection = store.collection(notes);
    const where = { text: { prefix: "note 7777" } };
    const inside = await observe(() =>
      // A transaction reads in its own thread, where alone its changes are.
      store.transaction((tx) => tx.collection(notes).find({ where, sort: ["-text"] })),
    );
    const outside = await observe(() => collection.find({ where, sort: ["-text"] }));
    expect(outside.result).toHaveLength(11);
    expect(outside.result).toEqual(inside.result);
    expect([inside.handedOver, outside.handedOver]).toEqual([0, 1]);
    expect(outside.turns).toBeGreaterThan(inside.turns + 20);
  });

  it.each<[string, (store: Store) => Promise<unknown>]>([
    ["a count", (store) => store.collection(notes).count({ where: { text: "note 50000" } })],
    [
      "a deep offset",
      (store) =>
        store
          .collection(notes)
          .find({ where: { text: { prefix: "note" } }, offset: 55_000, limit: 5 }),
    ],
    [
      "a filter in the order of creation",
      (store) => store.collection(notes).find({ where: { text: "note 1" }, limit: 5 }),
    ],
    [
      "a search in the order of creation",
      (store) => store.collection(notes).find({ q: "ote", offset: 5000, limit: 5 }),
    ],
    [
      "a search by two letters",
      (store) => store.collection(notes).find({ q: "no", sort: ["text"], limit: 5 }),
    ],
    [
      "a page with its total",
      (store) =>
        store.collection(notes).page({ where: { text: { prefix: "note 1" } }, total: "exact" }),
    ],
    [
      "an order without an index",
      (store) => store.collection(notes).find({ sort: ["text"], limit: 3, fields: ["n"] }),
    ],
  ])("may be %s", async (_name, read) => {
    const store = await open(await fill(partCount, { isSearched: true }));
    const inside = await store.transaction((tx) =>
      read({ ...store, collection: (definition) => tx.collection(definition) }),
    );
    slowClock();
    const outside = await observe(() => read(store));
    expect(outside.result).toEqual(inside);
    expect(outside.handedOver).toBe(1);
    expect(outside.turns).toBeGreaterThan(5);
  });

  it.each<[readonly ("-createdAt" | "-id" | "createdAt" | "id" | "text")[]]>([
    [["createdAt", "-id"]],
    [["-createdAt", "id"]],
    [["createdAt", "text"]],
  ])("may be one in the order %j of documents that were made at once", async (sort) => {
    const path = await fill(partCount);
    const database = new DatabaseSync(path);
    database.exec("UPDATE notes SET created_at = updated_at");
    database.close();
    const store = await open(path);
    slowClock();
    const { result, turns, handedOver } = await observe(() =>
      store.collection(notes).find({ sort, limit: 1 }),
    );
    expect(result).toHaveLength(1);
    expect(handedOver).toBe(1);
    expect(turns).toBeGreaterThan(5);
  });

  it.each<[string, CollectionDefinition<Note>]>([
    ["were removed", defineCollection<Note>("notes", { softDelete: true })],
    ["have expired", defineCollection<Note>("notes", { expires: { field: "until" } })],
  ])("may be one document behind those that %s", async (_name, definition) => {
    const path = join(temporaryFolder(), "a.db");
    await (await openStore(`sqlite:${path}`, { collections: [definition] })).close();
    insert(path, partCount);
    const database = new DatabaseSync(path);
    const column = definition.softDelete === true ? "deleted_at = updated_at" : "expires_at = 1";
    database.exec(`UPDATE notes SET ${column} WHERE seq > 10`);
    database.close();
    const store = await openStore(`sqlite:${path}`, { collections: [definition] });
    onTestFinished(() => store.close());
    slowClock();
    const { result, turns, handedOver } = await observe(() =>
      store.collection(definition).find({ sort: ["-createdAt"], limit: 1 }),
    );
    expect(result.map(({ n }) => n)).toEqual([10]);
    expect(handedOver).toBe(1);
    expect(turns).toBeGreaterThan(5);
  });

  it("comes in parts when it is large, so that not even that takes a long turn", async () => {
    const store = await open(await fill(documentCount));
    const messages = vi.spyOn(Worker.prototype, "postMessage");
    onTestFinished(() => messages.mockRestore());
    const { result, turns } = await observe(() => store.collection(notes).find());
    expect(result).toHaveLength(documentCount);
    expect(result[0]).toMatchObject({ n: documentCount, id: "id00200000" });
    expect(new Set(result.map(({ id }) => id)).size).toBe(documentCount);
    // Each part of 500 is asked for in a separate turn.
    expect(messages.mock.calls.filter(([message]) => message === "next")).toHaveLength(399);
    expect(turns).toBeGreaterThan(399);
    slowClock();
    const last = await observe(() =>
      store.collection(notes).find({ sort: ["-id"], offset: documentCount - 1, limit: 1 }),
    );
    expect(last.result).toMatchObject([{ n: 1 }]);
    expect(last.handedOver).toBe(1);
  });

  it("sees every change that was acknowledged before it", async () => {
    const store = await open(await fill(partCount));
    const collection = store.collection(notes);
    const where = { text: { prefix: "new" } };
    for (let n = 1; n <= 20; n += 1) {
      await collection.insert({ n, text: `new ${n}` });
      expect(await collection.count({ where })).toBe(n);
    }
  });

  it("goes on next to others and next to changes, and ends before the store closes", async () => {
    const path = await fill(partCount);
    const store = await openStore(`sqlite:${path}`, { collections: [notes] });
    const collection = store.collection(notes);
    const reads = Array.from({ length: 20 }, (_, n) =>
      collection.find({ where: { text: `note ${n + 1}` } }),
    );
    await collection.insert({ n: 0, text: "later" });
    await store.close();
    const found = (await Promise.all(reads)).map(([one]) => one?.n);
    expect(found).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    await expect(collection.find({ where: { text: "x" } })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CLOSED",
    });
  });

  it("says that a document is damaged, and reads on", async () => {
    const path = await fill(partCount);
    const database = new DatabaseSync(path);
    database.exec(`UPDATE notes SET doc = '[1]' WHERE seq = 30000`);
    database.close();
    const store = await open(path);
    const reading = store.collection(notes).find();
    await expect(reading).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_ENGINE",
      message: 'the document "id00030000" of "notes" is damaged',
    });
    expect(await store.collection(notes).find({ where: { text: "note 3" } })).toHaveLength(1);
  });
});

describe("The threads of slow reads", () => {
  const job = {
    definition: notes,
    plan: { count: { filter: undefined, words: [], deleted: "exclude" as const } },
  };

  it("reject what they cannot read, and go on", async () => {
    const folder = temporaryFolder();
    const reads = new SlowReads(join(folder, "none.db"));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(reads.run(job, String)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_ENGINE" });
    }
    await reads.close();
  });

  it("refuse more than wait for their turn already", async () => {
    const reads = new SlowReads(join(temporaryFolder(), "none.db"));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, () => reads.run(job, String)),
    );
    const codes = outcomes.map((one) => (one.status === "rejected" ? one.reason.code : "none"));
    // Two are being read, 256 wait.
    expect(codes.filter((code) => code === "ERR_DOCUMENTS_BUSY")).toHaveLength(42);
    expect(codes.filter((code) => code === "ERR_DOCUMENTS_ENGINE")).toHaveLength(258);
    await reads.close();
  });

  it("do not read what nobody can be waiting for any more", async () => {
    const reads = new SlowReads(join(temporaryFolder(), "none.db"));
    const now = performance.now();
    const old = Promise.allSettled(Array.from({ length: 10 }, () => reads.run(job, String)));
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 31_000);
    onTestFinished(() => clock.mockRestore());
    const young = reads.run(job, String).catch((error: unknown) => error);
    // Two were being read when the clock moved.
    const codes = (await old).map((one) => (one.status === "rejected" ? one.reason.code : "none"));
    expect(codes.filter((code) => code === "ERR_DOCUMENTS_ENGINE")).toHaveLength(2);
    expect(codes.filter((code) => code === "ERR_DOCUMENTS_BUSY")).toHaveLength(8);
    expect(await young).toMatchObject({ code: "ERR_DOCUMENTS_ENGINE" });
    await reads.close();
  });

  it("leave a moment for a checkpoint when the log is long, and ask for no more without success", async () => {
    const path = await fill(10);
    const log = `${path}-wal`;
    const MIB = 1024 * 1024;
    writeFileSync(log, "");
    const reads = new SlowReads(path);
    const events: string[] = [];
    const read = async (name: string): Promise<void> => {
      expect((await reads.run(job, String)).count).toBe(10);
      events.push(name);
    };
    let rest = 80;
    reads.makeRoomWith(() => {
      events.push("checkpoint");
      truncateSync(log, rest * MIB);
      return Promise.resolve();
    });
    const first = read("first");
    truncateSync(log, 65 * MIB);
    const second = read("second");
    // While somebody reads it would be in vain.
    expect(events).toEqual([]);
    await Promise.all([first, second]);
    expect(events).toEqual(["checkpoint", "first", "second"]);
    // What is left is somebody else's; only when as much is there again it is worth another
    // attempt.
    truncateSync(log, 144 * MIB);
    await read("third");
    expect(events).toHaveLength(4);
    truncateSync(log, 145 * MIB);
    await read("fourth");
    // When that has ended, the log is cut, and counts from there.
    truncateSync(log, 10 * MIB);
    await read("fifth");
    rest = 0;
    truncateSync(log, 75 * MIB);
    await read("sixth");
    expect(events.slice(3)).toEqual([
      "third",
      "checkpoint",
      "fourth",
      "fifth",
      "checkpoint",
      "sixth",
    ]);
    truncateSync(log, 65 * MIB);
    const last = read("seventh");
    await reads.close();
    expect(events.slice(9)).toEqual(["checkpoint", "seventh"]);
    await last;
  });

  it("go on when a checkpoint does not come, since it may wait for what waits for them", async () => {
    const path = await fill(10);
    const reads = new SlowReads(path);
    onTestFinished(() => reads.close());
    writeFileSync(`${path}-wal`, "");
    truncateSync(`${path}-wal`, 65 * 1024 * 1024);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    let asked = 0;
    reads.makeRoomWith(async () => {
      asked += 1;
      await promise;
    });
    const found = await Promise.all([reads.run(job, String), reads.run(job, String)]);
    expect(found.map(({ count }) => count)).toEqual([10, 10]);
    resolve(undefined);
    await reads.run(job, String);
    expect(asked).toBe(1);
  });
});
