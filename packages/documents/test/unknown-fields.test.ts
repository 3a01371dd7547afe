import type { StandardSchema } from "@fetchwork/kit";
import { describe, expectTypeOf, it } from "vitest";
import { defineCollection, type FindQuery, type Store, type Where } from "../src/index.ts";

interface Post {
  title: string;
  views?: number;
  draft: boolean;
  author: { name: string; address?: { city: string } };
  tags: string[];
}

const posts = defineCollection<Post>("posts", { search: ["title"] });

describe("store.collection(definition)", () => {
  it("takes every field that there is, at any depth, in inserts, filters and sorts", () => {
    const calls = (store: Store) => {
      const collection = store.collection(posts);
      const post: Post = { title: "a", draft: true, author: { name: "b" }, tags: [] };
      const where: Where<Post> = { "author.name": "b" };
      return [
        collection.insert(post),
        collection.insertMany([post, { ...post, views: 1 }]),
        collection.find({ where: { "author.address.city": { prefix: "B" }, version: 1 } }),
        collection.find({ where: { or: [{ title: "a" }, { not: { views: { gt: 1 } } }] } }),
        collection.find({ where: { tags: { contains: "x" } }, sort: ["-author.name", "views"] }),
        collection.page({ where, sort: ["-createdAt", "id"], total: "exact" }),
        collection.count({ where, q: "a" }),
        collection.removeMany({ where: { and: [where, { draft: false }] } }),
        collection.upsert(post, { by: "title" }),
      ];
    };
    expectTypeOf(calls).toBeFunction();
  });

  it("refuses an unknown field of an index of a schema", () => {
    const schema: StandardSchema<unknown, Post> = {
      "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Post }) },
    };
    expectTypeOf(defineCollection("posts", { schema, indexes: ["views"] })).toEqualTypeOf(posts);
    // @ts-expect-error: there is no such field
    const calls = () => defineCollection("posts", { schema, indexes: ["slug"] });
    expectTypeOf(calls).toBeFunction();
  });

  it("refuses an unknown field of an insert", () => {
    const calls = (store: Store) => {
      const collection = store.collection(posts);
      const post: Post = { title: "a", draft: true, author: { name: "b" }, tags: [] };
      return [
        // @ts-expect-error: there is no such field
        collection.insert({ ...post, slug: "a" }),
        // @ts-expect-error: there is no such field
        collection.insert({ title: "a", draft: true, tags: [], author: { name: "b", age: 1 } }),
        // @ts-expect-error: there is no such field
        collection.insertMany([post, { ...post, slug: "a" }]),
        // @ts-expect-error: there is no such field
        collection.upsert({ ...post, slug: "a" }, { id: "a" }),
        // @ts-expect-error: there is no such field
        collection.replace("a", { ...post, slug: "a" }),
        // @ts-expect-error: there is no such field
        collection.update("a", { slug: "a" }),
        // @ts-expect-error: there is no such field
        collection.update("a", () => ({ slug: "a" })),
      ];
    };
    expectTypeOf(calls).toBeFunction();
  });

  it("refuses an unknown field of a filter and a sort", () => {
    const calls = (store: Store) => {
      const collection = store.collection(posts);
      const wrongWhere = { slug: "a" };
      return [
        // @ts-expect-error: there is no such field
        collection.find({ where: { slug: "a" } }),
        // @ts-expect-error: there is no such field
        collection.find({ where: { title: "a", slug: "a" } }),
        // @ts-expect-error: there is no such field
        collection.find({ where: { "author.age": 1 } }),
        // @ts-expect-error: there is no such field
        collection.find({ where: { or: [{ title: "a" }, { slug: "a" }] } }),
        // @ts-expect-error: there is no such field
        collection.find({ where: { not: { title: "a", slug: "a" } } }),
        // @ts-expect-error: there is no such operator
        collection.find({ where: { title: { equals: "a" } } }),
        // @ts-expect-error: there is no such field, also not in a variable
        collection.find({ where: wrongWhere }),
        // @ts-expect-error: there is no such field
        collection.count({ where: { slug: "a" } }),
        // @ts-expect-error: there is no such field
        collection.removeMany({ where: { slug: "a" } }),
        // @ts-expect-error: there is no such field
        collection.find({ sort: ["slug"] }),
        // @ts-expect-error: there is no such field
        collection.page({ sort: ["-slug"] }),
      ];
    };
    expectTypeOf(calls).toBeFunction();
  });

  it("takes any field of a collection that is defined without a type", () => {
    const things = defineCollection("things");
    const calls = (store: Store, query: FindQuery<Record<string, unknown>>) => [
      store.collection(things).insert({ anything: 1 }),
      store.collection(things).find({ where: { "a.b": 1 }, sort: ["-c"] }),
      store.collection(things).find(query),
    ];
    expectTypeOf(calls).toBeFunction();
  });
});
