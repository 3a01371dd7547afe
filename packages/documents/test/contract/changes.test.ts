import { describe, expect, it, onTestFinished, vi } from "vitest";
import { administer, type ChangeRecord, defineCollection, type Store } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Thing {
  a: number;
}

const ids = defineCollection<Thing>("ids", { changes: "ids" });
const whole = defineCollection<Thing>("whole", { changes: "documents", softDelete: true });
const silent = defineCollection<Thing>("silent");
const brief = defineCollection<Thing & { until: number }>("brief", {
  changes: "ids",
  softDelete: true,
  expires: { field: "until" },
});

async function read(store: Store, options: object = {}): Promise<readonly ChangeRecord[]> {
  const changes: ChangeRecord[] = [];
  for await (const change of store.changes({ atEnd: "end", ...options })) changes.push(change);
  return changes;
}

describe.each(engines)("The feed of changes in %s", (_name, open, openNew) => {
  it.each([
    { pollInterval: 9 },
    { pollInterval: Number.NaN },
    { atEnd: "stop" },
    { collections: "ids" },
    { collections: [1] },
  ])("is refused with %j", async (options) => {
    const store = await open();
    expect(() => Reflect.apply(store.changes, store, [options])).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_OPTIONS" }),
    );
  });

  it.each(["", "5", "x".repeat(16), "9".repeat(16), "-000000000000001"])(
    "is refused behind the position %j",
    async (after) => {
      await expect(read(await open(), { after })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_QUERY",
      });
    },
  );

  it("tells what happened, in order, and nothing of other collections", async () => {
    const store = await open();
    const collection = store.collection(ids);
    const first = await collection.insert({ a: 1 });
    await store.collection(silent).insert({ a: 1 });
    await collection.update(first.id, { a: 2 });
    await collection.insertMany([{ a: 3 }, { a: 4 }]);
    await collection.remove(first.id);
    await collection.removeMany({ where: { a: 4 } });
    await collection.upsert({ a: 5 }, { id: "x" });
    await collection.upsert({ a: 6 }, { id: "x" });
    const changes = await read(store);
    expect(changes.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
      "insert 1",
      "update 2",
      "insert 1",
      "insert 1",
      "remove 2",
      "remove 1",
      "insert 1",
      "update 2",
    ]);
    expect(changes[0]).toEqual({
      position: changes[0]?.position,
      collection: "ids",
      id: first.id,
      kind: "insert",
      version: 1,
      at: first.createdAt,
      document: undefined,
    });
    expect(changes.map(({ position }) => position).toSorted()).toEqual(
      changes.map(({ position }) => position),
    );
  });

  it("tells the documents where that is asked for", async () => {
    const store = await open();
    const collection = store.collection(whole);
    const { id } = await collection.insert({ a: 1 });
    await collection.update(id, { a: 2 });
    await collection.remove(id);
    await collection.restore(id);
    await collection.removeMany({ where: {} });
    await collection.purge(id);
    await collection.insert({ a: 7 }, { id });
    await collection.remove(id);
    await collection.purgeMany();
    const changes = await read(store);
    expect(changes.map(({ kind, version, document }) => [kind, version, document])).toEqual([
      ["insert", 1, { a: 1 }],
      ["update", 2, { a: 2 }],
      ["remove", 3, { a: 2 }],
      ["restore", 4, { a: 2 }],
      ["remove", 5, { a: 2 }],
      ["purge", 5, undefined],
      ["insert", 1, { a: 7 }],
      ["remove", 2, { a: 7 }],
      ["purge", 2, undefined],
    ]);
  });

  it("tells nothing of what was refused or undone", async () => {
    const store = await open();
    const collection = store.collection(ids);
    await collection.insert({ a: 1 }, { id: "x" });
    await expect(collection.insert({ a: 1 }, { id: "x" })).rejects.toThrow();
    await expect(collection.update("x", { a: 2 }, { ifVersion: 9 })).rejects.toThrow();
    await collection.remove("nobody");
    await expect(
      store.transaction(async (tx) => {
        await tx.collection(ids).insert({ a: 2 });
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await read(store)).toHaveLength(1);
  });

  it("goes on behind a position, and can be of some collections", async () => {
    const store = await open();
    for (let a = 0; a < 250; a += 1) {
      await store.collection(a % 50 === 0 ? whole : ids).insert({ a });
    }
    const all = await read(store);
    expect(all).toHaveLength(250);
    const after = all[99]?.position;
    expect(await read(store, { after })).toEqual(all.slice(100));
    const some = await read(store, { collections: ["whole"] });
    expect(some.map(({ document }) => document)).toEqual(
      [0, 50, 100, 150, 200].map((a) => ({ a })),
    );
    expect(await read(store, { collections: [] })).toEqual([]);
  });

  it("waits at its end for further changes, until the loop or the signal ends it", async () => {
    const store = await open();
    const collection = store.collection(ids);
    const seen: number[] = [];
    const abort = new AbortController();
    const following = (async () => {
      for await (const change of store.changes({ signal: abort.signal, pollInterval: 60_000 })) {
        seen.push(change.version);
        if (seen.length === 1) await collection.update(change.id, { a: 2 });
        if (seen.length === 2) void collection.update(change.id, { a: 3 });
        if (seen.length === 3) abort.abort();
      }
    })();
    await collection.insert({ a: 1 });
    await following;
    expect(seen).toEqual([1, 2, 3]);
  });

  it("ends when the store closes", async () => {
    const store = await openNew();
    const following = (async () => {
      for await (const change of store.changes()) void change;
    })();
    await store.collection(ids).insert({ a: 1 });
    await store.close();
    await following;
  });

  it("is refused once the store is closed, and so is a consumer", async () => {
    const store = await openNew();
    await store.close();
    const closed = { code: "ERR_DOCUMENTS_CLOSED" };
    await expect(read(store)).rejects.toMatchObject(closed);
    await expect(store.consume("late", () => undefined)).rejects.toMatchObject(closed);
  });

  it("tells of a document that expires as removed, and of one that was removed before as purged", async () => {
    const start = Date.parse("2030-01-01T00:00:00.000Z");
    vi.useFakeTimers({ now: start, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const store = await open();
    const collection = store.collection(brief);
    await collection.insert({ a: 1, until: start + 1000 }, { id: "live" });
    await collection.insert({ a: 2, until: start + 1000 }, { id: "removed" });
    await collection.remove("removed");
    vi.setSystemTime(start + 1000);
    expect(await administer(store).sweep()).toBe(2);
    const changes = await read(store);
    expect(changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      "insert live",
      "insert removed",
      "remove removed",
      "remove live",
      "purge removed",
    ]);
  });

  it("refuses a position behind which changes were trimmed", async () => {
    const store = await open();
    const collection = store.collection(ids);
    await collection.insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    const [first, , last] = await read(store);
    expect(await store.trimChanges({ before: "2020-01-01T00:00:00.000Z" })).toBe(0);
    expect(await store.trimChanges({ before: "9999-01-01T00:00:00.000Z" })).toBe(3);
    await expect(read(store, { after: first?.position })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_POSITION",
    });
    expect(await read(store, { after: last?.position })).toEqual([]);
    await collection.insert({ a: 4 });
    expect(await read(store)).toHaveLength(1);
    expect(await read(store, { after: last?.position })).toHaveLength(1);
    await expect(store.trimChanges({ before: "today" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });
});

describe.each(engines)("A consumer in %s", (_name, open, openNew) => {
  const end = { atEnd: "end" } as const;

  it.each([
    ["", {}],
    ["x".repeat(181), {}],
    ["a", { batch: 0 }],
    ["a", { batch: 1001 }],
    ["a", { lease: 999 }],
    ["a", { pollInterval: 1 }],
  ])("is refused with the name %j and the options %j", async (name, options) => {
    const store = await open();
    await expect(store.consume(name, () => undefined, options)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it("goes on where it ended, in batches", async () => {
    const store = await open();
    const collection = store.collection(ids);
    await collection.insertMany(Array.from({ length: 5 }, (_, a) => ({ a })));
    const sizes: number[] = [];
    const handler = (changes: readonly ChangeRecord[]): void => {
      sizes.push(changes.length);
    };
    await store.consume("mail", handler, { ...end, batch: 2 });
    expect(sizes).toEqual([2, 2, 1]);
    await store.consume("mail", handler, end);
    expect(sizes).toEqual([2, 2, 1]);
    await collection.insert({ a: 9 });
    await store.consume("mail", handler, end);
    expect(sizes).toEqual([2, 2, 1, 1]);
    await store.consume("other", handler, end);
    expect(sizes.at(-1)).toBe(6);
  });

  it("is given a batch again when its handler failed", async () => {
    const store = await open();
    await store.collection(ids).insertMany([{ a: 1 }, { a: 2 }, { a: 3 }]);
    const seen: string[] = [];
    const handler = (changes: readonly ChangeRecord[]): void => {
      seen.push(changes.map(({ id }) => id).join());
      if (seen.length === 2) throw new Error("down");
    };
    await expect(store.consume("mail", handler, { ...end, batch: 1 })).rejects.toThrow("down");
    await store.consume("mail", handler, { ...end, batch: 1 });
    expect(seen).toHaveLength(4);
    expect(seen[2]).toBe(seen[1]);
  });

  it("ends without a failure when the store is closed under its handler", async () => {
    const store = await openNew();
    await store.collection(ids).insert({ a: 1 });
    const closing: Promise<void>[] = [];
    await store.consume("mail", () => {
      closing.push(store.close());
    });
    expect(closing).toHaveLength(1);
    await Promise.all(closing);
  });

  it("is one at a time under a name, and another one goes on after it", async () => {
    const store = await open();
    const collection = store.collection(ids);
    const abort = [new AbortController(), new AbortController()] as const;
    const seen: string[] = [];
    let told = Promise.withResolvers<undefined>();
    const consumers = abort.map(({ signal }, index) =>
      store.consume(
        "mail",
        (changes) => {
          for (const { id } of changes) seen.push(`${index} ${id}`);
          told.resolve(undefined);
        },
        { signal, lease: 1000 },
      ),
    );
    await collection.insert({ a: 1 }, { id: "x" });
    await told.promise;
    const first = seen[0] === "0 x" ? 0 : 1;
    told = Promise.withResolvers();
    abort[first].abort();
    await consumers[first];
    await collection.insert({ a: 2 }, { id: "y" });
    await told.promise;
    abort[1 - first === 0 ? 0 : 1].abort();
    await Promise.all(consumers);
    expect(seen).toEqual([`${first} x`, `${1 - first} y`]);
  });

  const later = { before: "9999-01-01T00:00:00.000Z" } as const;

  it("that is behind keeps its changes from being trimmed", async () => {
    const store = await open();
    const collection = store.collection(ids);
    const seen: number[] = [];
    const handler = (changes: readonly ChangeRecord[]): void => {
      seen.push(changes.length);
    };
    await collection.insert({ a: 1 });
    await store.consume("mail", handler, end);
    await collection.insertMany([{ a: 2 }, { a: 3 }]);
    await store.consume("other", () => undefined, end);
    expect(await store.trimChanges(later)).toBe(1);
    expect(await read(store)).toHaveLength(2);
    await store.consume("mail", handler, end);
    expect(seen).toEqual([1, 2]);
    expect(await store.trimChanges(later)).toBe(2);
    expect(await read(store)).toEqual([]);
  });

  it("of one collection passes the changes of others, which can be trimmed", async () => {
    const store = await open();
    const seen: string[] = [];
    const handler = (changes: readonly ChangeRecord[]): void => {
      seen.push(...changes.map(({ collection }) => collection));
    };
    const options = { ...end, collections: ["ids"] };
    await store.collection(ids).insert({ a: 1 });
    await store.consume("mail", handler, options);
    await store.collection(whole).insertMany([{ a: 2 }, { a: 3 }]);
    expect(await store.trimChanges(later)).toBe(1);
    await store.consume("mail", handler, options);
    expect(await store.trimChanges(later)).toBe(2);
    // It goes on after what was trimmed.
    await store.collection(ids).insert({ a: 4 });
    await store.consume("mail", handler, options);
    expect(seen).toEqual(["ids", "ids"]);
  });
});
