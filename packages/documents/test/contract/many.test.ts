import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Collection, defineCollection, type Stored } from "../../src/index.ts";
import { document, filter, matches } from "../filter-model.ts";
import { enginesOfFile, findsQuotedNames } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

type Document = Record<string, unknown>;

interface Note {
  n: number;
  text?: string | undefined;
  key?: string;
}

const things = defineCollection<Document>("things", { indexes: ["a"] });
const notes = defineCollection<Note>("notes", {
  indexes: ["n"],
  unique: ["key"],
  search: ["text"],
  changes: "ids",
});

const numbered = Array.from({ length: 700 }, (_, n): Note => ({ n, text: `note ${n % 7}` }));

describe.each(enginesOfFile())("A stream in %s", (_engine, open) => {
  const filled = async (): Promise<Collection<Note>> => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    await collection.insertMany(numbered);
    return collection;
  };

  it("returns everything that a query selects, in its order", async () => {
    const collection = await filled();
    const query = { where: { n: { gte: 10 } }, sort: ["-n"] } as const;
    const streamed: Stored<Note>[] = [];
    for await (const note of collection.stream(query)) streamed.push(note);
    expect(streamed).toEqual(await collection.find(query));
    expect(streamed).toHaveLength(690);
  });

  it("returns at most `limit` documents, from a cursor, with the fields that are asked for", async () => {
    const collection = await filled();
    const { next } = await collection.page({ sort: ["n"], limit: 100 });
    const query = { sort: ["n"], fields: ["n"], limit: 401, after: next } as const;
    const found: unknown[] = [];
    for await (const { id: _, ...rest } of collection.stream(query)) found.push(rest);
    expect(found).toEqual(numbered.slice(100, 501).map(({ n }) => ({ n })));
  });

  it("returns what a search finds, and sees documents that are removed while it runs", async () => {
    const collection = await filled();
    let count = 0;
    for await (const { n, text } of collection.stream({ q: "3", sort: ["n"] })) {
      expect(text).toBe("note 3");
      if (n === 3) await collection.removeMany({ where: { n: { gte: 600 } } });
      count += 1;
    }
    expect(count).toBe(100);
  });

  it("reads no further when the loop ends, and again from the beginning in another one", async () => {
    const collection = await filled();
    const stream = collection.stream({ sort: ["n"] });
    for await (const { n } of stream) if (n === 5) break;
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    for await (const { n } of collection.stream({ sort: ["n"] })) {
      expect(n).toBe(0);
      break;
    }
  });

  it.each([
    [{ offset: 1 }],
    [{ total: "exact" }],
    [{ limit: 0 }],
    [{ sort: "n" }],
    [{ after: "x" }],
  ])("of %j is refused", async (query) => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const stream: unknown = Reflect.apply(collection.stream, collection, [query]);
    const first: unknown = Reflect.apply(Reflect.get(Object(stream), "next"), stream, []);
    await expect(first).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });
});

describe.each(enginesOfFile())("updateMany() in %s", (engine, open) => {
  const filled = async (): Promise<Collection<Note>> => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    await collection.insertMany(numbered);
    return collection;
  };

  it("merges fields into every document that the filter matches", async () => {
    const collection = await filled();
    const change = { key: undefined, text: "changed" };
    expect(await collection.updateMany({ where: { n: { lt: 300 } }, change })).toBe(300);
    expect(await collection.count({ q: "changed" })).toBe(300);
    expect(await collection.count({ where: { version: 2 } })).toBe(300);
    expect(await collection.updateMany({ where: { n: -1 }, change })).toBe(0);
  });

  it("changes each document once, when the change moves it in the selection", async () => {
    const collection = await filled();
    const change = ({ n }: Note): Partial<Note> => ({ n: n + 100 });
    expect(await collection.updateMany({ where: { n: { gte: 100 } }, change })).toBe(600);
    expect(await collection.count({ where: { version: 2 } })).toBe(600);
    expect(await collection.count({ where: { version: { gt: 2 } } })).toBe(0);
    expect(await collection.aggregate({ values: { max: { max: "n" } } })).toEqual([{ max: 799 }]);
  });

  it("loses no change of others at the same time", async () => {
    const collection = await filled();
    const all = await collection.find({ where: { n: { lt: 20 } } });
    await Promise.all([
      collection.updateMany({ where: {}, change: ({ n }) => ({ n: n + 1000 }) }),
      ...all.map(({ id }) => collection.increment(id, { n: 10_000 })),
      collection.updateMany({ where: {}, change: ({ n }) => ({ n: n + 1000 }) }),
    ]);
    const sum = numbered.reduce((total, { n }) => total + n, 0);
    const [group] = await collection.aggregate({ values: { sum: { sum: "n" } } });
    expect(group?.sum).toBe(sum + 2 * 700 * 1000 + 20 * 10_000);
  });

  it("leaves a document alone that no longer matches", async () => {
    const collection = await filled();
    const stop = collection.updateMany({ where: { n: 650 }, change: { n: -1 } });
    const change = { text: "late" };
    const [, changed] = await Promise.all([
      stop,
      collection.updateMany({ where: { n: { gte: 0 } }, change }),
    ]);
    const late = await collection.find({ where: { n: -1 } });
    expect(late[0]?.text === "late").toBe(changed === 700);
  });

  it("is all or none in a transaction, and leaves the parts before a failure otherwise", async () => {
    const store = await open({ collections: [notes] });
    const collection = store.collection(notes);
    await collection.insertMany(numbered.slice(0, 400));
    const change = { key: "same" };
    const inside = store.transaction(async (tx) => {
      const own = tx.collection(notes);
      expect(await own.updateMany({ where: {}, change: { text: "inside" } })).toBe(400);
      await own.updateMany({ where: {}, change });
    });
    await expect(inside).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE" });
    const outside = collection.updateMany({ where: {}, change });
    await expect(outside).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE" });
    expect(await collection.count({ where: { version: 1 } })).toBe(400);
  });

  it.each([
    ["no filter", { change: { n: 1 } }],
    ["no change", { where: {} }],
    ["a list as the change", { where: {}, change: [] }],
    ["an undefined condition", { where: { n: undefined }, change: { n: 1 } }],
    ["an unknown option", { where: {}, change: { n: 1 }, limit: 1 }],
  ])("with %s is refused", async (_text, changes) => {
    const collection = await filled();
    const result: unknown = Reflect.apply(collection.updateMany, collection, [changes]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("refuses what cannot be stored, and a function that returns none", async () => {
    const collection = await filled();
    for (const change of [{ n: Number.NaN }, { id: "x" }, () => 1, () => ({ version: 7 })]) {
      const result: unknown = Reflect.apply(collection.updateMany, collection, [
        { where: {}, change },
      ]);
      await expect(result).rejects.toMatchObject({
        code: expect.stringMatching(/^ERR_DOCUMENTS_(?:NAME|VALUE)$/),
      });
    }
    expect(await collection.count({ where: { version: 1 } })).toBe(700);
  });

  it("comes to what a naive model comes to, for any documents and filters", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    await fc.assert(
      fc.asyncProperty(fc.array(document, { maxLength: 12 }), filter, async (documents, where) => {
        fc.pre(findsQuotedNames(engine) || !JSON.stringify(where).includes('x\\"y'));
        await collection.removeMany({ where: {} });
        await collection.insertMany(documents);
        const before = await collection.find();
        const expected = new Map(
          before.map((each) => [
            each.id,
            matches(each, where) ? { ...each, a: 1, version: each.version + 1 } : each,
          ]),
        );
        const changes: unknown = { where, change: { a: 1 } };
        const count: unknown = await Reflect.apply(collection.updateMany, collection, [changes]);
        expect(count).toBe(before.filter((each) => matches(each, where)).length);
        for await (const { updatedAt: _, ...stored } of collection.stream()) {
          expect({ ...expected.get(stored.id), updatedAt: undefined }).toEqual({
            ...stored,
            updatedAt: undefined,
          });
        }
      }),
      { numRuns: propertyRuns(15, 80) },
    );
  });
});
