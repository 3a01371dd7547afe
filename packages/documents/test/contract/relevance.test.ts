import { describe, expect, it } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Post {
  title: string;
  body?: string;
  tags?: string[];
}

const posts = defineCollection<Post>("posts", { search: ["title", "body", "tags"] });

/** From the one that matches best to the one that matches worst. */
const ranked: readonly (readonly [id: string, post: Post])[] = [
  ["phrase", { title: "The red House" }],
  ["title", { title: "House, red" }],
  ["split", { title: "red", body: "a house" }],
  ["twice", { title: "-", body: "red, red and a house; a house" }],
  ["body", { title: "-", body: "red paint, a house" }],
  ["beginnings", { title: "-", body: "reddish, houses" }],
  ["inside", { title: "-", body: "scared in warehouses" }],
  ["tags", { title: "-", tags: ["bored", "greenhouses"] }],
];

describe.each(enginesOfFile())("Relevance in %s", (_name, open) => {
  it("sorts the documents that a search finds", async () => {
    const collection = (await open({ collections: [posts] })).collection(posts);
    for (const [id, post] of ranked.toReversed()) await collection.insert(post, { id });
    await collection.insert({ title: "blue house" });
    const query = { q: "RED hoüse", sort: ["-relevance"] } as const;
    const ids = ranked.map(([id]) => id);
    expect((await collection.find(query)).map(({ id }) => id)).toEqual(ids);
    const some = await collection.find({ ...query, offset: 2, limit: 3, fields: ["title"] });
    expect(some).toEqual([
      { id: "split", title: "red" },
      { id: "twice", title: "-" },
      { id: "body", title: "-" },
    ]);
    const first = await collection.page({ ...query, limit: 5, total: "exact" });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 5));
    expect(first.total).toEqual({ count: 8, exact: true });
    const second = await collection.page({ ...query, limit: 5, after: first.next });
    expect(second.items.map(({ id }) => id)).toEqual(ids.slice(5));
    expect(second.next).toBeUndefined();
  });

  it("is of the newest thousand, the newest first of equal ones", async () => {
    const collection = (await open({ collections: [posts] })).collection(posts);
    const oldest = await collection.insert({ title: "needle" });
    await collection.insertMany(Array.from({ length: 1005 }, () => ({ title: "needles" })));
    const last = await collection.insert({ title: "x", body: "needle" });
    const query = { q: "needle", sort: ["-relevance"], limit: 600 } as const;
    const first = await collection.page({ ...query, total: "exact" });
    const second = await collection.page({ ...query, after: first.next });
    const ids = [...first.items, ...second.items].map(({ id }) => id);
    expect(ids).toHaveLength(1000);
    expect(new Set(ids).size).toBe(1000);
    expect(ids.at(-1)).toBe(last.id);
    expect(ids).not.toContain(oldest.id);
    expect(first.total?.count).toBe(1007);
    const plain = await collection.find({ q: "needle", limit: 600 });
    expect(ids.slice(0, 599)).toEqual(plain.slice(1, 600).map(({ id }) => id));
  });

  it("is refused beside another order", async () => {
    const collection = (await open({ collections: [posts] })).collection(posts);
    const refusal = { code: "ERR_DOCUMENTS_QUERY" };
    await expect(collection.find({ q: "a", sort: ["-relevance", "title"] })).rejects.toMatchObject(
      refusal,
    );
    const { next } = await (async () => {
      await collection.insertMany([{ title: "a" }, { title: "a" }]);
      return collection.page({ q: "a", sort: ["-relevance"], limit: 1 });
    })();
    await expect(collection.page({ q: "a", limit: 1, after: next })).rejects.toMatchObject(refusal);
  });
});
