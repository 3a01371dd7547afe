import type { StandardSchema } from "@fetchwork/kit";
import { describe, expectTypeOf, it } from "vitest";
import {
  type Change,
  type Collection,
  type CollectionDefinition,
  defineCollection,
  type Projected,
  type Stored,
  type Where,
} from "../src/index.ts";
import type { ScalarValue } from "../src/api/where.ts";
import type { FieldPath, ListPath } from "../src/api/field-path.ts";

interface Post {
  title: string;
  views?: number;
  draft: boolean;
  state: "new" | "old";
  author: { name: string; address?: { city: string } };
  tags: string[];
}

describe("The types", () => {
  it("know the paths of a document, and those of every stored one", () => {
    expectTypeOf<FieldPath<Post>>().toEqualTypeOf<
      | "author.address.city"
      | "author.address"
      | "author.name"
      | "author"
      | "createdAt"
      | "draft"
      | "id"
      | "state"
      | "tags"
      | "title"
      | "updatedAt"
      | "version"
      | "views"
    >();
    expectTypeOf<FieldPath<Record<string, unknown>>>().toEqualTypeOf<string>();
  });

  it("accept and refuse filters by the type of the field", () => {
    expectTypeOf<{ title: "x"; views: { gte: 1; lt: 2 } }>().toExtend<Where<Post>>();
    expectTypeOf<{ "author.address.city": { prefix: "B" }; version: 1 }>().toExtend<Where<Post>>();
    expectTypeOf<{ or: [{ draft: true }, { not: { state: { in: ["new"] } } }] }>().toExtend<
      Where<Post>
    >();
    expectTypeOf<{ tags: { exists: true }; views: null }>().toExtend<Where<Post>>();
    expectTypeOf<{ title: 1 }>().not.toExtend<Where<Post>>();
    expectTypeOf<{ state: "other" }>().not.toExtend<Where<Post>>();
    expectTypeOf<{ views: { prefix: "1" } }>().not.toExtend<Where<Post>>();
    expectTypeOf<{ draft: { gt: true } }>().not.toExtend<Where<Post>>();
    expectTypeOf<{ and: [{ title: 1 }] }>().not.toExtend<Where<Post>>();
    expectTypeOf<{ anything: 1; or: [{ else: { gt: "x" } }] }>().toExtend<
      Where<Record<string, unknown>>
    >();
    expectTypeOf<{ anything: undefined }>().not.toExtend<Where<Record<string, unknown>>>();
  });

  it("know the paths through lists, for members alone", () => {
    interface Thread {
      comments: { author: { name: string }; votes?: (number | undefined)[] }[];
      meta: { links: { href: string }[] };
    }
    expectTypeOf<ListPath<Post>>().toEqualTypeOf<never>();
    expectTypeOf<ListPath<Thread>>().toEqualTypeOf<
      "comments.author" | "comments.author.name" | "comments.votes" | "meta.links.href"
    >();
    expectTypeOf<{ "comments.author.name": { contains: "a" } }>().toExtend<Where<Thread>>();
    expectTypeOf<{ "comments.votes": { containsAny: [1, null] } }>().toExtend<Where<Thread>>();
    expectTypeOf<{ "comments.votes": { contains: "1" } }>().not.toExtend<Where<Thread>>();
    expectTypeOf<{ "meta.links.href": "a" }>().not.toExtend<Where<Thread>>();
    defineCollection<Thread>("threads", { indexes: ["comments.author.name"] });
  });

  it("refuse an unknown field in a definition and a query", () => {
    // @ts-expect-error: there is no such field
    defineCollection<Post>("posts", { unique: ["slug"] });
    defineCollection<Post>("posts", { indexes: ["views", ["author.name", "createdAt"]] });
    type Query = NonNullable<Parameters<Collection<Post>["find"]>[0]>;
    expectTypeOf<{ sort: ["-views", "author.name"] }>().toExtend<Query>();
    expectTypeOf<{ sort: ["-nothing"] }>().not.toExtend<Query>();
    expectTypeOf<{ where: { nothing: 1 } }>().not.toExtend<Query>();
  });

  it("take any field of a collection that is defined without a type", () => {
    const things = defineCollection("things", { indexes: ["colour", ["size.width", "colour"]] });
    expectTypeOf(things).toEqualTypeOf<CollectionDefinition<Record<string, unknown>>>();
  });

  it("say what comes back of the fields that were asked for", () => {
    const use = async (posts: Collection<Post>, fields: FieldPath<Post>[]) => {
      const [found] = await posts.find({ fields: ["title", "views", "author.name"], limit: 1 });
      expectTypeOf<NonNullable<typeof found>>().toExtend<{
        id: string;
        title: string;
        views?: number;
        author: { name: string };
      }>();
      expectTypeOf<NonNullable<typeof found>>().not.toHaveProperty("tags");
      const { items } = await posts.page({ fields: ["author.address.city", "createdAt"] });
      expectTypeOf<(typeof items)[number]>().toExtend<{
        createdAt: string;
        author: { address?: { city: string } };
      }>();
      expectTypeOf<(typeof items)[number]["author"]>().not.toHaveProperty("name");
      expectTypeOf(await posts.find({ fields })).toEqualTypeOf<readonly Projected<Post>[]>();
      // @ts-expect-error: there is no such field
      await posts.find({ fields: ["title", "slug"] });
    };
    const useUntyped = async (things: Collection<Record<string, unknown>>) => {
      const [found] = await things.find({ fields: ["a", "b.c"] });
      expectTypeOf(found?.a).toBeUnknown();
      expectTypeOf(found?.b).toBeUnknown();
    };
    const useUnion = async (shapes: Collection<{ kind: "a"; r: number } | { kind: "b" }>) => {
      const [found] = await shapes.find({ fields: ["kind"] });
      expectTypeOf(found?.kind).toEqualTypeOf<"a" | "b" | undefined>();
    };
    expectTypeOf([use, useUntyped, useUnion]).toBeArray();
  });

  it("say what groups and values are", () => {
    const use = async (posts: Collection<Post>) => {
      const [group] = await posts.aggregate({
        by: ["state", "author.address.city"],
        values: {
          posts: "count",
          views: { sum: "views" },
          mean: { avg: "views" },
          last: { max: "title" },
        },
        sort: ["-views", "state"],
      });
      expectTypeOf<NonNullable<typeof group>>().toExtend<{
        state: "new" | "old" | null;
        posts: number;
        views: number;
        mean: number | null;
        last: string | null;
      }>();
      expectTypeOf(group?.["author.address.city"]).toEqualTypeOf<string | null | undefined>();
      const [all] = await posts.aggregate({ values: { n: "count" } });
      expectTypeOf(all?.n).toEqualTypeOf<number | undefined>();
      expectTypeOf<NonNullable<typeof all>>().not.toHaveProperty("state");
      // @ts-expect-error: there is no such field
      await posts.aggregate({ by: "slug", values: { n: "count" } });
      // @ts-expect-error: there is no such value
      await posts.aggregate({ values: { n: "count" }, sort: ["m"] });
      // @ts-expect-error: there is no such function
      await posts.aggregate({ values: { n: { median: "views" } } });
      expectTypeOf(await posts.distinct("tags")).toEqualTypeOf<readonly string[]>();
      expectTypeOf(await posts.distinct("state")).toEqualTypeOf<readonly ("new" | "old")[]>();
    };
    const useUntyped = async (things: Collection<Record<string, unknown>>) => {
      const [group] = await things.aggregate({
        by: "a",
        values: { n: "count", m: { min: "b.c" } },
      });
      expectTypeOf(group?.n).toEqualTypeOf<number | undefined>();
      expectTypeOf(group?.a).toEqualTypeOf<ScalarValue | undefined>();
      expectTypeOf(group?.m).toEqualTypeOf<number | string | null | undefined>();
    };
    expectTypeOf([use, useUntyped]).toBeArray();
  });

  it("know which fields are numbers", () => {
    const use = async (posts: Collection<Post>, things: Collection<Record<string, unknown>>) => {
      expectTypeOf(await posts.increment("x", { views: 1 })).toEqualTypeOf<
        Stored<Post> | undefined
      >();
      await things.increment("x", { "a.b": 1 });
      // @ts-expect-error: it is a text
      await posts.increment("x", { title: 1 });
    };
    expectTypeOf(use).toBeFunction();
  });

  it("say what a stream returns and what updateMany() takes", () => {
    const use = async (posts: Collection<Post>) => {
      for await (const post of posts.stream({ where: { draft: true }, sort: ["-views"] })) {
        expectTypeOf(post).toEqualTypeOf<Stored<Post>>();
      }
      for await (const { id, title } of posts.stream({ fields: ["title"] })) {
        expectTypeOf([id, title]).toEqualTypeOf<string[]>();
      }
      // @ts-expect-error: a stream skips nothing
      posts.stream({ offset: 1 });
      await posts.updateMany({ where: { draft: true }, change: { draft: false } });
      await posts.updateMany({ where: {}, change: ({ views = 0 }) => ({ views: views + 1 }) });
      // @ts-expect-error: no document may be without a title
      await posts.updateMany({ where: {}, change: { title: undefined } });
    };
    expectTypeOf(use).toBeFunction();
  });

  it("take the type of documents from a schema", () => {
    const use = (schema: StandardSchema<Post>) => {
      const posts = defineCollection("posts", { schema, indexes: ["views"] });
      expectTypeOf(posts).toEqualTypeOf<CollectionDefinition<Post>>();
      // @ts-expect-error: there is no such field
      defineCollection("posts", { schema, indexes: ["slug"] });
    };
    expectTypeOf(use).toBeFunction();
  });

  it("say what comes back", () => {
    const use = async (posts: Collection<Post>) => {
      expectTypeOf(await posts.get("x")).toEqualTypeOf<Stored<Post> | undefined>();
      expectTypeOf(await posts.find({ limit: 1 })).toEqualTypeOf<readonly Stored<Post>[]>();
      await posts.update("x", { views: undefined });
      expectTypeOf<{ a: undefined }>().toExtend<Change<Record<string, number>>>();
      // @ts-expect-error: no document may be without a title
      await posts.update("x", { title: undefined });
      await posts.update("x", (post) => ({ ...post, views: 1 }));
    };
    expectTypeOf(use).toBeFunction();
  });
});
