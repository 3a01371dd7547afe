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
  tags?: string[];
  notes?: { by: string; text: string }[];
}

const posts = defineCollection<Post>("posts", { unique: ["views"], search: ["tags"] });
const things = defineCollection<Document>("things");

const refused: readonly (readonly [
  text: string,
  method: "increment" | "pull" | "push",
  fields: unknown,
  code: string,
])[] = [
  ["nothing", "increment", {}, "QUERY"],
  ["no object", "increment", null, "QUERY"],
  [
    "101 fields",
    "increment",
    Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 1])),
    "QUERY",
  ],
  ["NaN", "increment", { n: Number.NaN }, "QUERY"],
  ["infinity", "increment", { n: Infinity }, "QUERY"],
  ["a text", "increment", { n: "1" }, "QUERY"],
  ["the version", "increment", { version: 1 }, "NAME"],
  ["a field with a dollar", "increment", { $n: 1 }, "QUERY"],
  ["a text in the document", "increment", { text: 1 }, "VALUE"],
  ["a list in the document", "increment", { list: 1 }, "VALUE"],
  ["a field inside of a list", "increment", { "list.a": 1 }, "VALUE"],
  ["a field inside of a number", "increment", { "n.a": 1 }, "VALUE"],
  ["a number that becomes infinite", "increment", { huge: 1e308 }, "VALUE"],
  ["a value that is no list", "push", { list: "a" }, "QUERY"],
  ["a number in the document", "push", { n: [1] }, "VALUE"],
  ["a member that is a date", "push", { list: [new Date(0)] }, "VALUE"],
  ["an undefined member", "push", { list: [undefined] }, "VALUE"],
  ["the id", "push", { id: [1] }, "NAME"],
  ["a number in the document", "pull", { n: [1] }, "VALUE"],
  ["a value that is no list", "pull", { list: 1 }, "QUERY"],
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

  it("adds members to lists and removes them, and searches see it", async () => {
    const collection = await collectionOf();
    const { id } = await collection.insert({ title: "a" });
    await collection.push(id, { tags: ["red", "red"], notes: [{ by: "ann", text: "x" }] });
    await collection.push(id, { tags: ["red", "blue", "blue"] }, { unique: true });
    expect(await collection.get(id)).toMatchObject({ tags: ["red", "red", "blue"], version: 3 });
    expect(await collection.count({ q: "blue" })).toBe(1);
    await collection.pull(id, { tags: ["red"], notes: [{ text: "x", by: "ann" }] });
    expect(await collection.get(id)).toMatchObject({ tags: ["blue"], notes: [], version: 4 });
    expect(await collection.count({ q: "red" })).toBe(0);
  });

  it("keeps unique fields, versions and the document when it is refused", async () => {
    const collection = await collectionOf();
    await collection.insert({ title: "a", views: 1 });
    const { id } = await collection.insert({ title: "b", views: 0 });
    const taken = collection.increment(id, { views: 1 });
    await expect(taken).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE" });
    const late = collection.push(id, { tags: ["x"] }, { ifVersion: 2 });
    await expect(late).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VERSION" });
    expect(await collection.get(id)).toMatchObject({ views: 0, version: 1 });
    await collection.increment(id, { views: 2 }, { ifVersion: 1 });
    expect(await collection.get(id)).toMatchObject({ views: 2, version: 2 });
  });

  it("is lost by none of many at the same time", async () => {
    const collection = await collectionOf();
    const { id } = await collection.insert({ title: "a" });
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    await Promise.all(
      numbers.flatMap((n) => [
        collection.increment(id, { "stats.likes": 0.1 }),
        collection.push(id, { tags: [`t${n}`] }),
      ]),
    );
    const stored = await collection.get(id);
    expect(stored).toMatchObject({ stats: { likes: 3 }, version: 61 });
    expect(new Set(stored?.tags).size).toBe(30);
  });

  it.each(refused)("with %s is refused by %s()", async (_text, method, fields, code) => {
    const collection = (await open({ collections: [things] })).collection(things);
    const document = { n: 1, text: "1", list: [1], huge: 1e308 };
    const { id } = await collection.insert(document);
    const result: unknown = Reflect.apply(collection[method], collection, [id, fields]);
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

  it("comes to what JavaScript makes of numbers and lists, for any changes", async () => {
    const collection = (await open({ collections: [things] })).collection(things);
    const member = fc.constantFrom(1, "1", true, null, 0, { a: 1, b: [2] }, [1], "");
    const change = fc.oneof(
      fc.record({
        kind: fc.constant("increment" as const),
        by: fc.integer({ min: -999, max: 999 }),
      }),
      fc.record({
        kind: fc.constantFrom("push", "pushUnique", "pull"),
        members: fc.array(member, { maxLength: 4 }),
      }),
    );
    const same = (one: unknown): string => JSON.stringify(one);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 10 }), async (changes) => {
        const { id } = await collection.insert({});
        let sum: number | undefined;
        let list: unknown[] | undefined;
        for (const each of changes) {
          if (each.kind === "increment") {
            sum = (Math.round((sum ?? 0) * 100) + each.by) / 100;
            await collection.increment(id, { "in.n": each.by / 100 });
            continue;
          }
          const { kind, members } = each;
          const fields = { "in.list": members };
          if (kind === "pull") {
            const pulled = new Set(members.map(same));
            list = list?.filter((one) => !pulled.has(same(one)));
            await collection.pull(id, fields);
          } else {
            list ??= [];
            for (const one of members) {
              const isKnown = list.some((other) => same(other) === same(one));
              if (kind === "push" || !isKnown) list.push(one);
            }
            await collection.push(id, fields, { unique: kind === "pushUnique" });
          }
        }
        const { in: inner = {} } = (await collection.get(id)) ?? { in: undefined };
        const expected = { ...(sum === undefined ? {} : { n: sum }), ...(list && { list }) };
        expect(inner).toEqual(expected);
      }),
      { numRuns: propertyRuns(15, 60) },
    );
  });
});
