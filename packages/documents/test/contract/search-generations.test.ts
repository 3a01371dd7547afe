import { expect, it, onTestFinished, vi } from "vitest";
import { administer, defineCollection, type Store } from "../../src/index.ts";
import { sharedEngines } from "../open-for-test.ts";

interface Note {
  title: string;
  text: string;
  views?: number;
}

const collection = (search: readonly ("text" | "title")[]) =>
  defineCollection<Note>("notes", { search, softDelete: true });

const byTitle = collection(["title"]);
const byText = collection(["text"]);
const byBoth = collection(["title", "text"]);

async function found(store: Store, definition: typeof byTitle, q: string): Promise<unknown> {
  const notes = store.collection(definition);
  const documents = await notes.find({ q, sort: ["title"] });
  const { total } = await notes.page({ q, limit: 1, total: "exact" });
  expect(total?.count).toBe(documents.length);
  expect(await notes.count({ q })).toBe(documents.length);
  return documents.map(({ title }) => title);
}

async function waitUntilBuilt(store: Store, definition: typeof byTitle): Promise<void> {
  await expect
    .poll(() => administer(store).plan({ collections: [definition] }), { timeout: 20_000 })
    .not.toContainEqual(expect.objectContaining({ kind: "build-search" }));
}

it.each(sharedEngines)(
  "a search finds all by the fields of each program in %s",
  async (_name, create) => {
    const open = await create();
    const first = await open({ collections: [byTitle] });
    const old = first.collection(byTitle);
    const kept = await old.insert({ title: "apple", text: "yellow" });
    const gone = await old.insert({ title: "apricot", text: "yellow" });
    const hidden = await old.insert({ title: "avocado", text: "yellow" });

    const second = await open({ collections: [byText] });
    const fresh = second.collection(byText);
    expect(await found(second, byText, "yellow")).toEqual(["apple", "apricot", "avocado"]);
    expect(await found(first, byTitle, "apricot")).toEqual(["apricot"]);

    // The program that was there first knows nothing of the other one.
    await old.insert({ title: "banana", text: "yellow fruit" });
    await old.insertMany([
      { title: "bean", text: "green" },
      { title: "beet", text: "yellow" },
    ]);
    await old.update(kept.id, { text: "greenish" });
    await old.remove(gone.id);
    await old.remove(hidden.id);
    await old.restore(hidden.id);
    expect(await found(second, byText, "yellow")).toEqual(["avocado", "banana", "beet"]);
    expect(await found(second, byText, "gr")).toEqual(["apple", "bean"]);
    expect(await found(second, byText, "yellow fruit")).toEqual(["banana"]);
    expect(await fresh.count({ q: "yellow", deleted: "only" })).toBe(1);

    await fresh.insert({ title: "cherry", text: "red" });
    await fresh.insertMany([
      { title: "currant", text: "red" },
      { title: "clementine", text: "orange" },
    ]);
    await fresh.update(kept.id, { title: "crab apple" });
    await fresh.update(kept.id, ({ text }) => ({ text: `${text} and red` }));
    await fresh.remove(hidden.id);
    expect(await found(first, byTitle, "c")).toEqual([
      "cherry",
      "clementine",
      "crab apple",
      "currant",
    ]);
    expect(await found(first, byTitle, "crab")).toEqual(["crab apple"]);
    expect(await found(first, byTitle, "avocado")).toEqual([]);
    expect(await found(second, byText, "red")).toEqual(["cherry", "crab apple", "currant"]);
    expect(await found(second, byText, "greenish")).toEqual(["crab apple"]);

    await first.transaction(async (transaction) => {
      const notes = transaction.collection(byTitle);
      const { id } = await notes.insert({ title: "date", text: "brown" });
      await notes.update(id, { text: "dark brown" });
      await notes.update(kept.id, { views: 1 });
    });
    expect(await found(second, byText, "brown")).toEqual(["date"]);
    expect(await found(second, byText, "red")).toEqual(["cherry", "crab apple", "currant"]);
    const inside = await second.transaction((transaction) =>
      transaction.collection(byText).find({ q: "dark" }),
    );
    expect(inside).toMatchObject([{ title: "date" }]);
    for (const store of [first, second]) {
      expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
    }
  },
);

it.each(sharedEngines)(
  "a search finds what a program without a search writes in %s",
  async (_name, create) => {
    const open = await create();
    const plain = defineCollection<Note>("notes", { softDelete: true });
    const first = await open({ collections: [plain] });
    const old = first.collection(plain);
    const kept = await old.insert({ title: "apple", text: "yellow" });
    const second = await open({ collections: [byText] });
    expect(await found(second, byText, "yellow")).toEqual(["apple"]);
    await old.insert({ title: "banana", text: "yellow" }, { id: "chosen" });
    await old.update(kept.id, { text: "red" });
    expect(await found(second, byText, "yellow")).toEqual(["banana"]);
    expect(await found(second, byText, "red")).toEqual(["apple"]);
    await old.remove("chosen");
    await old.purge("chosen");
    await second.collection(byText).insert({ title: "quince", text: "yellow" }, { id: "chosen" });
    expect(await found(second, byText, "yellow")).toEqual(["quince"]);
    await old.upsert({ title: "quince", text: "green" }, { id: "chosen" });
    expect(await found(second, byText, "yellow")).toEqual([]);
    expect(await found(second, byText, "green")).toEqual(["quince"]);
    const leases = await second.collection(byText).claim({ q: "green", limit: 2 });
    expect(leases.map(({ document }) => document.title)).toEqual(["quince"]);
  },
);

it.each(sharedEngines)("a search builds nothing back in %s", async (_name, create) => {
  const open = await create();
  const first = await open({ collections: [byTitle] });
  const many = Array.from({ length: 1800 }, (_, index) => ({
    title: `title ${index}`,
    text: `text ${index % 2 === 0 ? "even" : "odd"}`,
  }));
  await first.collection(byTitle).insertMany(many);
  const plan = (store: Store, definition: typeof byTitle) =>
    administer(store).plan({ collections: [definition] });
  expect(await plan(first, byText)).toContainEqual({
    kind: "build-search",
    collection: "notes",
    fields: ["text"],
  });

  const second = await open({ collections: [byText] });
  expect(await second.collection(byText).count({ q: "odd" })).toBe(900);
  await waitUntilBuilt(second, byText);
  expect(await second.collection(byText).count({ q: "odd" })).toBe(900);

  // It starts again, and the other one goes on.
  const again = await open({ collections: [byTitle] });
  expect(await plan(again, byTitle)).toEqual([
    { kind: "unused-search", collection: "notes", fields: ["text"] },
  ]);
  expect(await plan(again, byText)).toEqual([
    { kind: "unused-search", collection: "notes", fields: ["title"] },
  ]);
  await again.collection(byTitle).insert({ title: "one more", text: "odd one" });
  expect(await again.collection(byTitle).count({ q: "more" })).toBe(1);
  expect(await second.collection(byText).count({ q: "odd" })).toBe(901);

  const third = await open({ collections: [byBoth] });
  await again.collection(byTitle).insert({ title: "third", text: "odd too" });
  await second.collection(byText).insert({ title: "fourth", text: "odd again" });
  expect(await third.collection(byBoth).count({ q: "odd" })).toBe(903);
  expect(await third.collection(byBoth).count({ q: "title odd" })).toBe(900);
  await waitUntilBuilt(third, byBoth);
  expect(await third.collection(byBoth).count({ q: "odd" })).toBe(903);
  expect(await third.collection(byBoth).count({ q: "third" })).toBe(1);
  expect(await second.collection(byText).count({ q: "odd" })).toBe(903);
  expect(await again.collection(byTitle).count({ q: "fourth" })).toBe(1);
  expect(await administer(third).check()).toEqual({ ok: true, problems: [] });
});

it.each(sharedEngines)("a search drops what no program uses in %s", async (_name, create) => {
  const open = await create();
  const before = defineCollection<Note>("notes", { search: ["title"], indexes: ["views"] });
  const now = defineCollection<Note>("notes", { search: ["text"], indexes: ["title"] });
  const first = await open({ collections: [before] });
  await first.collection(before).insert({ title: "apple", text: "green" });
  await first.close();
  const second = await open({ collections: [now] });
  const unused = [
    { kind: "unused-index", collection: "notes", fields: expect.anything() as unknown },
    { kind: "unused-search", collection: "notes", fields: ["title"] },
  ];
  expect(await administer(second).plan({ collections: [now] })).toEqual(unused);
  expect(await administer(second).dropUnused([now])).toEqual(unused);
  expect(await administer(second).plan({ collections: [now] })).toEqual([]);
  await second.collection(now).insert({ title: "pear", text: "green" });
  expect(await second.collection(now).count({ q: "green" })).toBe(2);

  const back = await open({ collections: [before] });
  await administer(back).built();
  expect(await back.collection(before).count({ q: "pear" })).toBe(1);
  await second.collection(now).insert({ title: "pear two", text: "yellow" });
  expect(await back.collection(before).count({ q: "pear" })).toBe(2);
  expect(await administer(back).check()).toEqual({ ok: true, problems: [] });
});

it.each(sharedEngines)(
  "a search drops a search that no program used for a week in %s",
  async (_name, create) => {
    const open = await create();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 8 * 86_400_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const first = await open({ collections: [byTitle] });
    await first.collection(byTitle).insert({ title: "apple", text: "green" });
    await first.close();
    vi.useRealTimers();
    const second = await open({ collections: [byText] });
    await administer(second).built();
    await expect.poll(() => administer(second).plan({ collections: [byText] })).toEqual([]);
    expect(await found(second, byText, "green")).toEqual(["apple"]);
    const again = await open({ collections: [byTitle] });
    await administer(again).built();
    expect(await found(again, byTitle, "apple")).toEqual(["apple"]);
  },
);
