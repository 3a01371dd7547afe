import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { ApiClient, Populated } from "../src/client/index.ts";
import { resourceRoutes } from "../src/http/resource-routes.ts";
import { createResourceController } from "../src/operations/resource-controller.ts";
import { defineResource } from "../src/resource/define-resource.ts";
import type { PublicUser } from "../src/resource/public-user.ts";
import type { Resource } from "../src/resource/resource.ts";

const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({ name: z.string(), email: z.string() }),
  access: { show: "user" },
  owner: "id",
  fields: { email: { read: "owner" } },
});

const label = defineResource({
  name: "label",
  path: "/labels",
  schema: z.object({ text: z.string() }),
  access: {},
});

const comment = defineResource({
  name: "comment",
  path: "/comments",
  schema: z.object({ text: z.string(), book: z.string(), by: z.string().nullable().optional() }),
  access: { create: "user" },
  relations: { book: { to: (): Resource => book }, by: { to: () => member } },
});

const book = defineResource({
  name: "book",
  path: "/books",
  schema: z.object({
    title: z.string(),
    state: z.enum(["here", "lent"]),
    tags: z.array(z.string()),
    editor: z.string().optional(),
    shelf: z.object({ row: z.number() }).optional(),
    pages: z.number().optional(),
  }),
  access: { create: "user" },
  owner: "author",
  filter: ["state", "author", "shelf.row", "pages"],
  sort: ["title"],
  relations: {
    author: { to: () => member },
    editor: { to: () => member },
    tags: { to: () => label, many: true },
    comments: { to: () => comment, inverse: "book" },
  },
  populate: { paths: ["author", "editor", "tags", "comments.by"] },
});

const routes = [
  ...resourceRoutes(member, createResourceController(member)),
  ...resourceRoutes(comment, createResourceController(comment)),
  ...resourceRoutes(book, createResourceController(book)),
];

type Client = ApiClient<typeof routes>;
type RowOf<Call extends (client: Client) => Promise<{ readonly data: readonly unknown[] }>> =
  Awaited<ReturnType<Call>>["data"][number];

describe("populated documents of the typed client", () => {
  it("have the type of the documents that relations lead to", () => {
    const list = (client: Client) =>
      client.books.list({ populate: ["author", "editor", "tags", "comments"] });
    type Row = RowOf<typeof list>;
    type Author = Extract<Row["author"], { name: string }>;
    expectTypeOf<Author["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Author["email"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PublicUser extends Row["author"] ? true : false>().toEqualTypeOf<true>();
    expectTypeOf<null extends Row["author"] ? true : false>().toEqualTypeOf<true>();
    type Editor = Extract<Row["editor"], object>;
    expectTypeOf<Editor["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Exclude<Row["editor"], object>>().toEqualTypeOf<string | null | undefined>();
    type Tag = Extract<Row["tags"][number], object>;
    expectTypeOf<Tag["text"]>().toEqualTypeOf<string>();
    type Comment = NonNullable<Row["comments"]>[number];
    expectTypeOf<Comment["text"]>().toEqualTypeOf<string>();
    expectTypeOf<Comment["by"]>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Row["title"]>().toEqualTypeOf<string>();
    expectTypeOf<Row["state"]>().toEqualTypeOf<"here" | "lent">();
    expect(book.relations.paths).toContain("comments.by");
  });

  it("go on with the path, as far as it goes", () => {
    const show = (client: Client) =>
      client.books.show("1", { query: { populate: "author, comments.by" } });
    type One = Awaited<ReturnType<typeof show>>["data"];
    type By = Extract<NonNullable<One["comments"]>[number]["by"], object>;
    expectTypeOf<By["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Extract<One["author"], { name: string }>["name"]>().toEqualTypeOf<string>();
    expectTypeOf<One["editor"]>().toEqualTypeOf<string | undefined>();
  });

  it("are documents of no known type where a definition is written as a bare Resource", () => {
    const list = (client: Client) => client.comments.list({ populate: ["book", "by"] });
    type Row = RowOf<typeof list>;
    expectTypeOf<Row["book"]>().toEqualTypeOf<string | Readonly<Record<string, unknown>> | null>();
    expectTypeOf<Extract<Row["by"], object>["name"]>().toEqualTypeOf<string>();
  });

  it("are not there without populate, and perhaps there with paths of the run time", () => {
    const plain = (client: Client) => client.books.list({ sort: "title" });
    type Row = RowOf<typeof plain>;
    expectTypeOf<Row["author"]>().toEqualTypeOf<PublicUser | null>();
    expectTypeOf<Row["tags"]>().toEqualTypeOf<string[]>();
    // @ts-expect-error -- nothing was populated
    type Missing = Row["comments"];
    expectTypeOf<Missing>().toBeAny();
    const some = (client: Client, populate: string) => client.books.list({ populate });
    type Wide = Awaited<ReturnType<typeof some>>["data"][number];
    expectTypeOf<Wide["title"]>().toEqualTypeOf<
      string | Readonly<Record<string, unknown>> | null
    >();
  });

  it("may lack fields where others were asked for", () => {
    const list = (client: Client) => client.books.list({ populate: ["editor"], fields: ["title"] });
    type Row = RowOf<typeof list>;
    expectTypeOf<Extract<Row["editor"], object>["name"]>().toEqualTypeOf<string>();
    expectTypeOf<undefined extends Row["title"] ? true : false>().toEqualTypeOf<true>();
  });

  it("are asked for by paths that begin with relations, or do not compile", () => {
    const calls = (client: Client) => [
      // @ts-expect-error -- no such relation
      client.books.list({ populate: "nope" }),
      // @ts-expect-error -- no such relation, next to one
      client.books.list({ populate: ["author", "nope"] }),
      // @ts-expect-error -- no such relation, in a text of several
      client.books.pages({ populate: "author, nope.author" }),
      // @ts-expect-error -- a field without a relation
      client.books.show("1", { query: { populate: "title" } }),
    ];
    expect(calls).toHaveLength(1);
  });

  it("say so of types written by hand too", () => {
    interface Plain {
      readonly id: string;
      readonly of: string;
    }
    interface Related {
      readonly of: { readonly document: Plain; readonly related: Related; readonly shape: "one" };
    }
    type Deep = Populated<Plain, "of.of", Related>;
    expectTypeOf<
      Extract<Extract<Deep["of"], object>["of"], object>["id"]
    >().toEqualTypeOf<string>();
  });
});

describe("lists of the typed client", () => {
  it("filter and sort by the fields that the resource names", () => {
    const calls = (client: Client) => [
      client.books.list({ state: "here", sort: ["-title", "id"], limit: 3 }),
      client.books.list({ "state[in]": ["here", "lent"], author: "1", sort: "-createdAt" }),
      client.books.list({ "shelf.row[gte]": 3, where: { or: [{ "shelf.row": 1 }] } }),
      client.books.pages({ where: { not: { state: { ne: "lent" } } }, populate: "author" }),
    ];
    expect(calls).toBeTypeOf("function");
  });

  it("do not compile with others", () => {
    const calls = (client: Client) => [
      // @ts-expect-error -- a field that does not filter
      client.books.list({ title: "a" }),
      // @ts-expect-error -- the same, next to what there is
      client.books.list({ state: "here", title: "a" }),
      // @ts-expect-error -- a misspelled filter next to what there is
      client.books.list({ limit: 3, "stat[in]": ["here"] }),
      // @ts-expect-error -- the same, with populate
      client.books.pages({ populate: "author", stat: "here" }),
      // @ts-expect-error -- of another type
      client.books.list({ state: "gone" }),
      // @ts-expect-error -- an operand of another type
      client.books.list({ "pages[gte]": "x" }),
      // @ts-expect-error -- the same, in a condition
      client.books.list({ where: { pages: { gte: "x" } } }),
      // @ts-expect-error -- a field that does not sort
      client.books.list({ sort: ["title", "state"] }),
      // @ts-expect-error -- in a condition
      client.books.list({ where: { and: [{ title: "a" }] } }),
      // @ts-expect-error -- the same, next to one that filters
      client.books.list({ where: { state: "here", not: { author: "1", title: "a" } } }),
      // @ts-expect-error -- nothing filters
      client.comments.list({ limit: 1, text: "a" }),
    ];
    expect(calls).toBeTypeOf("function");
  });
});
