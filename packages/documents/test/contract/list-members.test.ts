import { describe, expect, it } from "vitest";
import { type Collection, defineCollection, type FindQuery } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Article {
  n: number;
  tags?: unknown;
}

const articles = defineCollection<Article>("articles", { indexes: ["tags", "n"] });
const threads = defineCollection("threads", { indexes: ["comments.author"] });

/**
 * Every document has "all"; one in 2 "even", one in 500 "rare", the first ten "first", the last
 * "last".
 */
function tagsOf(n: number, count: number): readonly unknown[] {
  return [
    "all",
    n % 2 === 0 ? "even" : 7,
    ...(n % 500 === 0 ? ["rare", "rare"] : []),
    ...(n < 10 ? ["first"] : []),
    ...(n === count - 1 ? ["last", true] : []),
  ];
}

async function fill(collection: Collection<Article>, count: number): Promise<void> {
  await collection.insertMany(
    Array.from({ length: count }, (_, n) => ({ n, tags: tagsOf(n, count) })),
  );
}

/** Reads all pages of a query. */
async function pagesOf(
  collection: Collection<Article>,
  query: FindQuery<Article>,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let after: string | undefined, isLast = false; !isLast;) {
    const page = await collection.page({ ...query, after, fields: undefined });
    found.push(...page.items.map(({ n }) => n));
    after = page.next;
    isLast = after === undefined;
  }
  return found;
}

describe.each(enginesOfFile())("Members of lists in %s", (_name, open) => {
  it("find documents in every order, page by page, however many lists have them", async () => {
    const collection = (await open({ collections: [articles] })).collection(articles);
    const count = 3000;
    await fill(collection, count);
    const numbers = Array.from({ length: count }, (_, n) => n);
    for (const wanted of ["all", "even", 7, "rare", "first", "last", "none", true, 1, "7", null]) {
      const expected = numbers.filter((n) => tagsOf(n, count).some((tag) => tag === wanted));
      const where = { tags: { contains: wanted } };
      expect(await collection.count({ where })).toBe(expected.length);
      expect(await collection.count({ where, max: 4 })).toBe(Math.min(4, expected.length));
      const limit = Math.max(5, Math.ceil(expected.length / 3));
      for (const sort of [["createdAt"], ["n"], ["-n"]] as const) {
        const ordered = sort[0] === "-n" ? expected.toReversed() : expected;
        const found = await pagesOf(collection, { where, sort, limit });
        // Documents that were inserted together have one time, and are in the order of their ids.
        expect([wanted, sort, found]).toEqual([wanted, sort, ordered]);
      }
      const newest = await collection.find({ where, limit: 7 });
      expect(newest.map(({ n }) => n)).toEqual(expected.toReversed().slice(0, 7));
    }
  });

  it("find documents far from the begin of an order, however many have them", async () => {
    const collection = (await open({ collections: [articles] })).collection(articles);
    const count = 5000;
    const tagged = (n: number): readonly string[] =>
      [1500, 2500, 4300, count].filter((before) => n < before).map((before) => `below ${before}`);
    await collection.insertMany(Array.from({ length: count }, (_, n) => ({ n, tags: tagged(n) })));
    for (const before of [1500, 2500, 4300, count]) {
      const where = { tags: { contains: `below ${before}` } };
      for (const [sort, first, step] of [
        ["n", 0, 1],
        ["-n", before - 1, -1],
      ] as const) {
        const page = await collection.page({ where, sort: [sort], limit: 30 });
        const next = await collection.page({ where, sort: [sort], limit: 30, after: page.next });
        const expected = Array.from({ length: 60 }, (_, place) => first + step * place);
        const found = [...page.items, ...next.items].map(({ n }) => n);
        expect([before, sort, found]).toEqual([before, sort, expected]);
      }
    }
  });

  it("are looked up together with each other and with other fields", async () => {
    const collection = (await open({ collections: [articles] })).collection(articles);
    await fill(collection, 1500);
    const rare = { and: [{ tags: { contains: "all" } }, { tags: { contains: "rare" } }] };
    const query = { where: rare, sort: ["n"], limit: 5 } as const;
    expect((await collection.find(query)).map(({ n }) => n)).toEqual([0, 500, 1000]);
    expect(await collection.count({ where: rare })).toBe(3);
    const either = { tags: { containsAny: ["last", "rare", "none"] } };
    const found = await collection.find({ where: either, sort: ["-n"], limit: 2 });
    expect(found.map(({ n }) => n)).toEqual([1499, 1000]);
    expect(await collection.count({ where: either })).toBe(4);
    const small = { tags: { contains: "even" }, n: { lt: 3 } };
    expect((await collection.find({ where: small, limit: 9 })).map(({ n }) => n)).toEqual([2, 0]);
    expect(await collection.count({ where: { not: { tags: { contains: 7 } } } })).toBe(750);
    const values = Array.from({ length: 100 }, (_, place) => `none${place}`);
    const many = { tags: { containsAny: [...values, "first"] } };
    expect(await collection.count({ where: many })).toBe(10);
  });

  it("follow lists on the way", async () => {
    const collection = (await open({ collections: [threads] })).collection(threads);
    const comments = [
      [{ author: "ann" }, { author: "bob" }, "ann"],
      { author: ["bob", ["ann"]] },
      [{ author: ["ann", "cid"] }],
      { author: "ann" },
      [[{ author: "ann" }]],
    ];
    await collection.insertMany(comments.map((each, n) => ({ n, comments: each })));
    const find = async (author: string): Promise<readonly number[]> => {
      const where = { "comments.author": { contains: author } };
      const found = await collection.find({ where, sort: ["n"], limit: 9 });
      return found.map(({ n }) => Number(n));
    };
    expect(await find("ann")).toEqual([0, 2]);
    expect(await find("bob")).toEqual([0, 1]);
    expect(await find("cid")).toEqual([2]);
  });

  it("are those of the document as it is", async () => {
    const collection = (await open({ collections: [articles] })).collection(articles);
    const find = async (tag: unknown): Promise<readonly string[]> => {
      const query = { where: { tags: { contains: tag } }, limit: 9 };
      const found: unknown = await Reflect.apply(collection.find, collection, [query]);
      return Array.isArray(found) ? found.map(({ id }) => String(id)) : [];
    };
    await collection.insert({ n: 1, tags: ["a", "a", { b: "c" }] }, { id: "x" });
    await collection.update("x", { n: 2 });
    expect(await find("a")).toEqual(["x"]);
    await collection.update("x", { tags: ["b"] });
    expect([await find("a"), await find("b")]).toEqual([[], ["x"]]);
    await collection.update("x", { tags: "b" });
    expect(await find("b")).toEqual([]);
    await collection.replace("x", { n: 3, tags: ["d"] });
    expect(await find("d")).toEqual(["x"]);
    await collection.upsert({ n: 3, tags: ["e"] }, { id: "x" });
    expect([await find("d"), await find("e")]).toEqual([[], ["x"]]);
    expect(await collection.removeMany({ where: { tags: { contains: "none" } } })).toBe(0);
    expect(await collection.removeMany({ where: { tags: { contains: "e" } } })).toBe(1);
    expect(await find("e")).toEqual([]);
    await collection.insert({ n: 3, tags: ["f"] }, { id: "x" });
    await collection.remove("x");
    expect(await find("f")).toEqual([]);
  });

  it("of removed and expired documents are found as these are", async () => {
    const kept = defineCollection<Article & { until?: string }>("kept", {
      indexes: ["tags"],
      softDelete: true,
      expires: { field: "until" },
    });
    const collection = (await open({ collections: [kept] })).collection(kept);
    const until = new Date(Date.now() - 1000).toISOString();
    await collection.insert({ n: 1, tags: ["a"] }, { id: "x" });
    await collection.insert({ n: 2, tags: ["a"] }, { id: "y" });
    await collection.insert({ n: 3, tags: ["a"], until }, { id: "z" });
    await collection.remove("x");
    const where = { tags: { contains: "a" } };
    const idsOf = async (query: FindQuery<Article>): Promise<readonly string[]> =>
      (await collection.find({ where, limit: 9, ...query, fields: undefined })).map(({ id }) => id);
    expect(await idsOf({})).toEqual(["y"]);
    expect(await idsOf({ deleted: "only" })).toEqual(["x"]);
    expect(await collection.count({ where })).toBe(1);
    expect(await collection.count({ where, deleted: "include" })).toBe(2);
    await collection.restore("x");
    expect(await idsOf({ sort: ["id"] })).toEqual(["x", "y"]);
  });
});
