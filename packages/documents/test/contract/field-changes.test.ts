import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Collection, defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

type Document = Record<string, unknown>;

interface Post {
  title: string;
  views?: number | null;
  stats?: { likes?: number };
}

const posts = defineCollection<Post>("posts", { unique: ["views"] });
const things = defineCollection<Document>("things");

const refused: readonly (readonly [text: string, fields: unknown, code: string])[] = [
  ["nothing", {}, "QUERY"],
  ["no object", null, "QUERY"],
  ["101 fields", Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 1])), "QUERY"],
  ["NaN", { n: Number.NaN }, "QUERY"],
  ["infinity", { n: Infinity }, "QUERY"],
  ["a text", { n: "1" }, "QUERY"],
  ["the version", { version: 1 }, "NAME"],
  ["a field with a dollar", { $n: 1 }, "QUERY"],
  ["a text in the document", { text: 1 }, "VALUE"],
  ["a list in the document", { list: 1 }, "VALUE"],
  ["a field inside of a list", { "list.a": 1 }, "VALUE"],
  ["a field inside of a number", { "n.a": 1 }, "VALUE"],
  ["a number that becomes infinite", { huge: 1e308 }, "VALUE"],
];

describe.each(enginesOfFile())("A change of fields in %s", (_engine, open) => {
  const collectionOf = async (): Promise<Collection<Post>> =>
    (await open({ collections: [posts] })).collection(posts);

  it("adds decimal numbers, also to fields that are missing or null", async () => {
    const collection = await collectionOf();
    const { id } = await collection.insert({ title: "a", views: null });
    const changed = await collection.increment(id, { views: 0.1, "stats.likes": -2 });
    expect(changed).toMatchObject({ title: "a", views: 0.1, stats: { likes: -2 }, version: 2 });
    await collection.increment(id, { views: 0.2 });
    expect(await collection.get(id)).toMatchObject({ views: 0.3, version: 3 });
    expect(await collection.increment("nobody", { views: 1 })).toBeUndefined();
  });

  it("keeps unique fields, versions and the document when it is refused", async () => {
    const collection = await collectionOf();
    await collection.insert({ title: "a", views: 1 });
    const { id } = await collection.insert({ title: "b", views: 0 });
    const taken = collection.increment(id, { views: 1 });
    await expect(taken).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE" });
    const late = collection.increment(id, { views: 5 }, { ifVersion: 2 });
    await expect(late).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VERSION" });
    expect(await collection.get(id)).toMatchObject({ views: 0, version: 1 });
    await collection.increment(id, { views: 2 }, { ifVersion: 1 });
    expect(await collection.get(id)).toMatchObject({ views: 2, version: 2 });
  });

  it("is lost by none of many at the same time", async () => {
    const collection = await collectionOf();
    const { id } = await collection.insert({ title: "a" });
    const changes = Array.from({ length: 60 }, () =>
      collection.increment(id, { "stats.likes": 0.1 }),
    );
    await Promise.all(changes);
    expect(await collection.get(id)).toMatchObject({ stats: { likes: 6 }, version: 61 });
  });

  it.each(refused)("by %s is refused", async (_text, fields, code) => {
    const collection = (await open({ collections: [things] })).collection(things);
    const document = { n: 1, text: "1", list: [1], huge: 1e308 };
    const { id } = await collection.insert(document);
    const result: unknown = Reflect.apply(collection.increment, collection, [id, fields]);
    await expect(result).rejects.toMatchObject({ code: `ERR_DOCUMENTS_${code}` });
    expect(await collection.get(id)).toMatchObject({ ...document, version: 1 });
  });

  it("does not reach the prototype of an object", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const { id } = await collection.insert({});
    const fields: unknown = JSON.parse('{ "__proto__.polluted": 1, "constructor": 2 }');
    const changed: unknown = await Reflect.apply(collection.increment, collection, [id, fields]);
    expect(Object.getOwnPropertyDescriptor(changed, "__proto__")?.value).toEqual({ polluted: 1 });
    expect(changed).toHaveProperty("constructor", 2);
    expect({}).not.toHaveProperty("polluted");
  });

  it("comes to what JavaScript makes of numbers, for any changes", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const changes = fc.array(fc.integer({ min: -999, max: 999 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(changes, async (cents) => {
        const { id } = await collection.insert({ in: {} });
        let sum: number | undefined;
        for (const each of cents) {
          sum = (Math.round((sum ?? 0) * 100) + each) / 100;
          await collection.increment(id, { "in.n": each / 100 });
        }
        const stored = await collection.get(id);
        expect(stored?.["in"]).toEqual(sum === undefined ? {} : { n: sum });
      }),
      { numRuns: propertyRuns(15, 60) },
    );
  });
});
