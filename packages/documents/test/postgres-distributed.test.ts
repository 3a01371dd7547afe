import { describe, expect, it, onTestFinished } from "vitest";
import {
  administer,
  defineCollection,
  openStore,
  type Store,
  type StoreOptions,
} from "../src/index.ts";
import { numberKey } from "../src/engines/postgres/statements/keys.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Seat {
  row?: unknown;
  seat?: unknown;
  note?: string;
}

const plain = defineCollection<Seat>("seats");
const seats = defineCollection<Seat>("seats", {
  unique: [["row", "seat"], "note"],
  softDelete: true,
  changes: "ids",
});

async function open(url: string, options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(url, { postgres: { distributed: true }, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** What the table of claims holds against what the documents say. */
const claimsOfNobody =
  'SELECT c.id FROM "fetchwork:claims" c LEFT JOIN seats s ON s.id = c.id AND s.deleted_at IS NULL ' +
  "WHERE s.id IS NULL";

describe.skipIf(noPostgres !== undefined)("A distributed store", () => {
  it.each([0, "yes", null])("refuses %j for the option", async (distributed) => {
    const postgres = Object({ distributed });
    await expect(openStore("postgres://h/d", { postgres })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it.each([true, false])(
    "cannot be opened as another kind than it was created as: %j",
    async (distributed) => {
      const url = await newDatabase();
      await open(url, { postgres: { distributed } });
      await expect(
        openStore(url, { postgres: { distributed: !distributed } }),
      ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPEN" });
      await open(url, { postgres: {} });
    },
  );

  it("has no unique index beyond the ids", async () => {
    const url = await newDatabase();
    await open(url, { collections: [seats] });
    const indexes =
      "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisunique " +
      "AND indrelid = 'seats'::regclass";
    expect(await runSql(url, indexes)).toEqual([
      { name: expect.stringMatching(/^"seats:id:[0-9a-f]{16}"$/) },
    ]);
  });

  it.each([
    [
      { row: 1, seat: "a" },
      { row: 1, seat: "a" },
    ],
    [
      { row: 1, seat: "a" },
      { row: true, seat: "a" },
    ],
    [
      { row: -0, seat: 1e21 },
      { row: 0, seat: 1e21 },
    ],
    [
      { row: { a: 1, b: [1] }, seat: 1 },
      { row: { b: [1], a: 1 }, seat: 1 },
    ],
    [
      { row: "x".repeat(300), seat: 1 },
      { row: "x".repeat(300), seat: 1 },
    ],
  ])("takes %j and %j for the same", async (one, other) => {
    const collection = (await open(await newDatabase())).collection(seats);
    await collection.insert(one);
    await expect(collection.insert(other)).rejects.toMatchObject({ fields: ["row", "seat"] });
    await expect(collection.insertMany([{ row: 9, seat: 9 }, other])).rejects.toMatchObject({
      fields: ["row", "seat"],
    });
    expect(await collection.count()).toBe(1);
  });

  it.each([
    [
      { row: 1, seat: "a" },
      { row: "1", seat: "a" },
    ],
    [
      { row: 1, seat: "a" },
      { row: 1, seat: null },
    ],
    [
      { row: 1, seat: "a" },
      { row: numberKey(1), seat: "a" },
    ],
    [{ row: 1 }, { row: 1 }],
    [
      { row: "1,2", seat: "3" },
      { row: "1", seat: "2,3" },
    ],
    [
      { row: { a: 1 }, seat: 1 },
      { row: '{"a": 1}', seat: 1 },
    ],
    [
      { row: "", seat: 1 },
      { row: 0, seat: 1 },
    ],
  ])("takes %j and %j for different ones", async (one, other) => {
    const collection = (await open(await newDatabase())).collection(seats);
    await collection.insertMany([one, other]);
    expect(await collection.count()).toBe(2);
  });

  it("refuses a batch that is in its own way", async () => {
    const collection = (await open(await newDatabase())).collection(seats);
    await expect(
      collection.insertMany([{ note: "a" }, { note: "b" }, { note: "a" }]),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE", fields: ["note"] });
    expect(await collection.count()).toBe(0);
  });

  it("frees what a document gives up, in every way", async () => {
    const url = await newDatabase();
    const collection = (await open(url)).collection(seats);
    const { id } = await collection.insert({ row: 1, seat: 1, note: "a" });
    await collection.update(id, { note: "b" });
    await collection.insert({ note: "a" });
    await collection.replace(id, { row: 2, seat: 2 });
    await collection.insert({ row: 1, seat: 1, note: "b" });
    await collection.remove(id);
    const other = await collection.insert({ row: 2, seat: 2 });
    await expect(collection.restore(id)).rejects.toMatchObject({ fields: ["row", "seat"] });
    await collection.removeMany({ where: { id: other.id } });
    await collection.restore(id);
    await expect(collection.insert({ row: 2, seat: 2 })).rejects.toMatchObject({
      fields: ["row", "seat"],
    });
    await collection.removeMany({ where: {} });
    await collection.purgeMany();
    expect(await runSql(url, 'SELECT FROM "fetchwork:claims"')).toEqual([]);
  });

  it("frees it in a collection without a feed, too", async () => {
    const unfed = defineCollection<Seat>("unfed", { unique: ["note"] });
    const url = await newDatabase();
    const collection = (await open(url)).collection(unfed);
    const { id } = await collection.insert({ note: "a" });
    await collection.update(id, { note: "b" });
    await collection.insert({ note: "a" });
    await collection.replace(id, { seat: 1 });
    await collection.insert({ note: "b" });
    await collection.removeMany({ where: {} });
    expect(await runSql(url, 'SELECT FROM "fetchwork:claims"')).toEqual([]);
  });

  it("claims for a document what it has, also when others change it at the same time", async () => {
    const url = await newDatabase();
    const [one, other] = await Promise.all([open(url), open(url)]);
    const collections = [one.collection(seats), other.collection(seats)] as const;
    const { id } = await collections[0].insert({ note: "first" });
    await Promise.all(
      collections.flatMap((collection, store) =>
        Array.from({ length: 10 }, (_, index) =>
          collection.update(id, () => ({ note: `${store}:${index}` })),
        ),
      ),
    );
    const stored = await collections[0].get(id);
    expect(stored).toMatchObject({ version: 21 });
    expect(await runSql(url, 'SELECT id FROM "fetchwork:claims"')).toEqual([{ id }]);
    await expect(collections[0].insert({ note: String(stored?.note) })).rejects.toMatchObject({
      fields: ["note"],
    });
  });

  it("lets one of many have a value at the same time, from several stores", async () => {
    const url = await newDatabase();
    const stores = await Promise.all([open(url), open(url), open(url)]);
    const outcomes = await Promise.allSettled(
      stores.flatMap((store) =>
        Array.from({ length: 20 }, (_, index) =>
          store.collection(seats).insert({ note: `n${index % 5}` }),
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE" });
      }
    }
    expect(await runSql(url, claimsOfNobody)).toEqual([]);
  });

  it("claims for the documents that are there when the definition gains a unique field", async () => {
    const url = await newDatabase();
    const first = await open(url, { collections: [plain] });
    await first
      .collection(plain)
      .insertMany(Array.from({ length: 1200 }, (_, index) => ({ note: `n${index}` })));
    const collection = (await open(url, { collections: [seats] })).collection(seats);
    await expect(collection.insert({ note: "n777" })).rejects.toMatchObject({ fields: ["note"] });
  });

  it("claims nothing then for those that were removed", async () => {
    const url = await newDatabase();
    const removed = defineCollection<Seat>("seats", { softDelete: true });
    const first = (await open(url, { collections: [removed] })).collection(removed);
    const { id } = await first.insert({ note: "a" });
    await first.remove(id);
    await first.insert({ note: "a" });
    const collection = (await open(url, { collections: [seats] })).collection(seats);
    await expect(collection.restore(id)).rejects.toMatchObject({ fields: ["note"] });
  });

  it("names the new unique field that documents already break, and can go on", async () => {
    const url = await newDatabase();
    const first = await open(url, { collections: [plain] });
    await first.collection(plain).insertMany([{ note: "a" }, { note: "a" }]);
    await expect(open(url, { collections: [seats] })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_UNIQUE",
      fields: ["note"],
    });
    await first.collection(plain).removeMany({ where: {} });
    await open(url, { collections: [seats] });
  });

  it("lets a transaction through while others write to the feed all the time", async () => {
    const url = await newDatabase();
    const stores = await Promise.all([open(url), open(url)]);
    const [store] = stores;
    let isOver = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; !isOver; count += 1) {
        await stores[writer % 2]?.collection(seats).insert({ note: `${writer}:${count}` });
      }
    });
    for (let round = 0; round < 5; round += 1) {
      await store.transaction(
        async (tx) => {
          const seen = await tx.collection(seats).count({ where: { note: "none" } });
          await tx.collection(seats).insert({ note: `transaction ${round}`, seat: seen });
        },
        { retries: 20 },
      );
    }
    isOver = true;
    await Promise.all(writers);
    const fed = await Array.fromAsync(store.changes({ atEnd: "end" }), ({ id }) => id);
    expect(new Set(fed).size).toBe(await store.collection(seats).count());
  });

  it("is prepared once by ten that open it at the same time, and so are its migrations", async () => {
    const url = await newDatabase();
    const migrations = [
      {
        id: 1,
        name: "the first seat",
        up: async (tx: Parameters<Parameters<Store["transaction"]>[0]>[0]) => {
          await tx.collection(seats).insert({ note: "first" });
        },
      },
    ];
    const stores = await Promise.all(
      Array.from({ length: 10 }, () => open(url, { collections: [seats], migrations })),
    );
    expect(await stores[0]?.collection(seats).count()).toBe(1);
    await Promise.all(
      stores.map((store, index) => store.collection(seats).insert({ note: `${index}` })),
    );
    const positions: string[] = [];
    for await (const { id } of stores[1]?.changes({ atEnd: "end" }) ?? []) positions.push(id);
    expect(new Set(positions).size).toBe(11);
  });

  it("moves into one that is not, and back, with what is unique", async () => {
    const from = await open(await newDatabase());
    await from.collection(seats).insertMany([{ note: "a" }, { row: 1, seat: 2 }]);
    const to = await open(await newDatabase(), { postgres: {} });
    const back = await open(await newDatabase());
    for (const [source, target] of [
      [from, to],
      [to, back],
    ] as const) {
      await administer(source).snapshot(({ records }) =>
        administer(target).load(async ({ add }) => {
          const all = await Array.fromAsync(records("seats"));
          await add(seats, all);
        }),
      );
      await expect(target.collection(seats).insert({ note: "a" })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_UNIQUE",
      });
    }
  });
});
