import { describe, expect, it } from "vitest";
import { administer, defineCollection, type DocumentRecord } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const notes = defineCollection<{ n: number }>("notes", { keepTotal: true });
const drafts = defineCollection<{ n: number }>("drafts", { keepTotal: true, softDelete: true });

const some = (count: number): readonly { n: number }[] =>
  Array.from({ length: count }, (_, n) => ({ n }));

describe.each(enginesOfFile())("The total kept in %s", (_name, open) => {
  it("follows every change of a collection", async () => {
    const store = await open({ collections: [notes] });
    const collection = store.collection(notes);
    expect(await collection.count()).toBe(0);
    await collection.insertMany(some(20));
    await Promise.all(some(5).map((note) => collection.insert(note)));
    const { id } = await collection.insert({ n: 100 });
    await collection.update(id, { n: 101 });
    await collection.upsert({ n: 102 }, { id });
    await collection.upsert({ n: 103 }, { id: "other" });
    expect(await collection.count()).toBe(27);
    expect(await collection.remove("other")).toBe(true);
    expect(await collection.removeMany({ where: { n: { lt: 5 } } })).toBe(10);
    expect(await collection.count()).toBe(16);
    const { total } = await collection.page({ limit: 2, total: "exact" });
    expect(total).toEqual({ count: 16, exact: true });
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });

  it("leaves out removed documents, and counts them again when they are restored", async () => {
    const store = await open({ collections: [drafts] });
    const collection = store.collection(drafts);
    const added = await collection.insertMany(some(6));
    const [first, second] = added.map(({ id }) => id);
    await collection.remove(first ?? "");
    await collection.removeMany({ where: { n: { gt: 3 } } });
    expect(await collection.count()).toBe(3);
    expect(await collection.count({ deleted: "include" })).toBe(6);
    await collection.restore(first ?? "");
    await collection.update(second ?? "", { n: 7 });
    expect(await collection.count()).toBe(4);
    await collection.purgeMany();
    expect(await collection.count()).toBe(4);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });

  it("counts what is loaded, of which removed documents are no part", async () => {
    const store = await open({ collections: [drafts] });
    await store.collection(drafts).insert({ n: 1 });
    const at = "2020-01-01T00:00:00.000Z";
    const record = (n: number): DocumentRecord => ({
      id: `r${n}`,
      version: 3,
      createdAt: at,
      updatedAt: at,
      document: { n },
      ...(n < 5 ? { deletedAt: at } : {}),
    });
    const records = Array.from({ length: 30 }, (_, n) => record(n));
    await administer(store).load((loading) => loading.add(drafts, records));
    expect(await store.collection(drafts).count()).toBe(26);
    const failing = administer(store).load((loading) => loading.add(drafts, records));
    await expect(failing).rejects.toThrow(/same id/);
    expect(await store.collection(drafts).count()).toBe(26);
    expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  });

  it("forgets what is rolled back, and sees the changes of its transaction", async () => {
    const store = await open({ collections: [notes] });
    const collection = store.collection(notes);
    await collection.insert({ n: 1 });
    const failing = store.transaction(async (transaction) => {
      const inside = transaction.collection(notes);
      await inside.insertMany(some(3));
      expect(await inside.count()).toBe(4);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await collection.count()).toBe(1);
  });

  it("is exact after many writers at once", async () => {
    const store = await open({ collections: [notes] });
    const collection = store.collection(notes);
    await Promise.all(
      some(12).map(async ({ n: writer }) => {
        for (let round = 0; round < 5; round += 1) {
          await store.transaction(async (transaction) => {
            const inside = transaction.collection(notes);
            const { id } = await inside.insert({ n: writer });
            if (round % 2 === 1) await inside.remove(id);
          });
        }
      }),
    );
    expect(await collection.count()).toBe(36);
  });
});
