import fc from "fast-check";
import { expect, it } from "vitest";
import { defineCollection, openStore, type SortKey, type Where } from "../src/index.ts";
import { propertyRuns } from "./property-runs.ts";

interface Post {
  text: string;
  author: string;
  status: string;
  views: number;
  tags: string[];
}

const posts = defineCollection<Post>("posts", {
  indexes: ["author", "status", "views", "tags", ["status", "views"]],
  search: ["text"],
});

/** More than are read and sorted at once, so that others are walked in their order. */
const count = 13_000;
const words = ["alpha", "beta", "gamma", "delta"];

function post(n: number): Post {
  return {
    text: `${words[n % 3] ?? ""} ${n % 50 === 0 ? "delta" : "other"}`,
    author: `a${n % 600}`,
    // All drafts are the oldest, so that none is found where the newest are looked at first.
    status: n < 4500 ? "draft" : "published",
    views: (n * 7919) % 10_007,
    tags: n % 2 === 0 ? ["even"] : ["odd", `t${n % 7}`],
  };
}

type Condition = readonly [Where<Post>, (document: Post) => boolean];

const conditions: readonly Condition[] = [
  [{ status: "draft" }, ({ status }) => status === "draft"],
  [{ status: "published" }, ({ status }) => status === "published"],
  [{ author: "a17" }, ({ author }) => author === "a17"],
  [{ author: { in: ["a1", "a2"] } }, ({ author }) => author === "a1" || author === "a2"],
  [{ author: { prefix: "a5" } }, ({ author }) => author.startsWith("a5")],
  [{ views: { gte: 3000 } }, ({ views }) => views >= 3000],
  [{ views: { gte: 100, lt: 200 } }, ({ views }) => views >= 100 && views < 200],
  [{ tags: { contains: "even" } }, ({ tags }) => tags.includes("even")],
  [{ tags: { contains: "t3" } }, ({ tags }) => tags.includes("t3")],
  [{ not: { status: "draft" } }, ({ status }) => status !== "draft"],
  [
    { or: [{ author: "a3" }, { views: { lt: 50 } }] },
    ({ author, views }) => author === "a3" || views < 50,
  ],
];
const orders: readonly (readonly SortKey<Post>[])[] = [
  ["-createdAt"],
  ["createdAt"],
  ["views"],
  ["-views"],
  ["status", "views"],
  ["author", "-views"],
];

const query = fc.record({
  chosen: fc.uniqueArray(fc.constantFrom(...conditions), { minLength: 1, maxLength: 3 }),
  word: fc.option(fc.constantFrom(...words), { nil: undefined, freq: 2 }),
  sort: fc.constantFrom(...orders),
  limit: fc.constantFrom(7, 30, 400),
});

it("A page on SQLite has the same documents whatever index is taken for it", async () => {
  await using store = await openStore("sqlite::memory:", { collections: [posts] });
  const collection = store.collection(posts);
  const all = await collection.insertMany(Array.from({ length: count }, (_, n) => post(n)));
  await fc.assert(
    fc.asyncProperty(query, async ({ chosen, word, sort, limit }) => {
      const where = { and: chosen.map(([each]) => each) };
      const expected = all.filter(
        (each) => chosen.every(([, has]) => has(each)) && each.text.includes(word ?? ""),
      );
      const selection = { where, ...(word === undefined ? {} : { q: word }) };
      const first = await collection.page({ ...selection, sort, limit, total: 1000 });
      expect(first.total).toEqual({
        count: Math.min(expected.length, 1000),
        exact: expected.length <= 1000,
      });
      const sorted = await collection.find({ ...selection, sort });
      expect(new Set(sorted.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)));
      expect(first.items).toEqual(sorted.slice(0, limit));
      if (first.next === undefined) return;
      const second = await collection.page({ ...selection, sort, limit, after: first.next });
      expect(second.items).toEqual(sorted.slice(limit, limit * 2));
      const skipped = await collection.find({ ...selection, sort, limit, offset: 3 });
      expect(skipped).toEqual(sorted.slice(3, limit + 3));
    }),
    { numRuns: propertyRuns(60, 600) },
  );
}, 120_000);
