import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Store } from "@fetchwork/documents";
import { defineResource } from "../src/resource/define-resource.ts";
import type { FieldAccess, FieldRule } from "../src/resource/field-access.ts";
import type { DocumentOf, Resource } from "../src/resource/resource.ts";

const member = defineResource({
  name: "member",
  path: "/team/members",
  schema: z.object({ name: z.string(), pin: z.string().optional() }),
  access: {},
  owner: "account",
  fields: { account: { read: "nobody" }, pin: { read: "nobody" } },
  computed: {
    length: { schema: z.number(), value: ({ name }) => name.length },
    hasPin: { schema: z.boolean(), value: ({ pin }) => pin !== undefined },
  },
  hooks: {
    beforeCreate({ fields }) {
      expectTypeOf(fields.name).toEqualTypeOf<string>();
      return { ...fields, name: fields.name.trim() };
    },
    afterUpdate({ before, document }) {
      expectTypeOf(before.name).toEqualTypeOf<string>();
      expectTypeOf(document.account).toEqualTypeOf<string | undefined>();
      expectTypeOf(document.version).toEqualTypeOf<number>();
    },
  },
});

type ShownOf<R> = R extends Resource<infer _S, infer _P, infer Shown> ? Shown : never;
type Member = ShownOf<typeof member>;

describe("types of a resource", () => {
  it("have what is shown: no secrets, and computed fields", () => {
    expectTypeOf<keyof Member>().toEqualTypeOf<
      "createdAt" | "hasPin" | "id" | "length" | "name" | "updatedAt"
    >();
    expectTypeOf<Member["length"]>().toEqualTypeOf<number | undefined>();
  });

  it("may lack fields whose rule is known only when the program runs", () => {
    const rule: FieldRule = Math.random() < 2 ? "nobody" : "public";
    const all: FieldAccess = { text: { read: rule } };
    const base = {
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string() }),
      access: {},
    };
    const one = defineResource({ ...base, fields: { text: { read: rule } } });
    const another = defineResource({ ...base, fields: all });
    const open = defineResource({ ...base, fields: { text: { write: "admin" } } });
    expectTypeOf<ShownOf<typeof one>["text"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<ShownOf<typeof another>["text"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<ShownOf<typeof open>["text"]>().toEqualTypeOf<string>();
  });

  it("lack what nobody sees", () => {
    const short = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string(), hidden: z.string().optional() }),
      access: {},
      fields: { hidden: "nobody", createdAt: "nobody", updatedAt: { read: "nobody" } },
    });
    expectTypeOf<keyof ShownOf<typeof short>>().toEqualTypeOf<"id" | "text">();
  });

  it("may lack what not everyone sees", () => {
    const person = defineResource({
      name: "person",
      path: "/people",
      schema: z.object({ name: z.string(), email: z.string() }),
      access: {},
      fields: { email: { read: "user" } },
    });
    type Person = ShownOf<typeof person>;
    expectTypeOf<Person["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Person["email"]>().toEqualTypeOf<string | undefined>();
  });
});

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string(),
    stars: z.number().optional(),
    slug: z.string().optional(),
  }),
  access: { create: "user" },
  owner: "author",
  fields: { slug: "nobody" },
});

describe("store.collection(resource.collection)", () => {
  it("knows the fields of the schema, also those that nobody sees, and the owner", () => {
    type Note = DocumentOf<typeof note>;
    expectTypeOf<Note["text"]>().toEqualTypeOf<string>();
    expectTypeOf<Note["author"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Note["slug"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Note["version"]>().toEqualTypeOf<number>();
  });

  it("takes nothing else in writes and filters", () => {
    const calls = (store: Store) => {
      const notes = store.collection(note.collection);
      return [
        notes.insert({ text: "a", slug: "a", author: "me" }),
        notes.find({ where: { text: "a", author: "me", createdAt: { gte: "2026" } } }),
        notes.update("id", { stars: 3 }),
        notes.update("id", (current) => ({ ...current, stars: (current.stars ?? 0) + 1 })),
        // @ts-expect-error There is no such field.
        notes.insert({ nonsense: 1 }),
        // @ts-expect-error A field is missing.
        notes.insert({ slug: "a" }),
        // @ts-expect-error There is no such field.
        notes.find({ where: { txet: "a" } }),
        // @ts-expect-error A number is not a text.
        notes.find({ where: { text: 1 } }),
        // @ts-expect-error There is no such field.
        notes.update("id", { satrs: 3 }),
        notes.update("id", (current) => ({ stars: (current.stars ?? 0) + 1 })),
        // @ts-expect-error A replacement is the whole document: this would erase the text.
        notes.replace("id", (current) => ({ stars: (current.stars ?? 0) + 1 })),
      ];
    };
    expectTypeOf(calls).toBeFunction();
  });
});

describe("names of fields in the options of a resource", () => {
  const article = {
    name: "article",
    path: "/articles",
    schema: z.object({
      title: z.string(),
      at: z.object({ city: z.string() }).optional(),
      slug: z.string().optional(),
    }),
    fields: { slug: "nobody" },
    owner: "author",
    access: { create: "user" },
  } as const;

  it("are those of the schema, the owner, and those of every document", () => {
    const { collection } = defineResource({
      ...article,
      unique: ["slug", ["title", "author"]],
      indexes: ["at.city", ["author", "createdAt"]],
      search: ["title"],
      filter: ["title", "at.city", "author", "updatedAt"],
      sort: ["title"],
    });
    expect(collection.unique).toEqual([["slug"], ["title", "author"]]);
  });

  it("are refused by the type check where they are misspelt", () => {
    const { name, path, schema } = article;
    const definitions = () => [
      defineResource({
        ...article,
        hooks: { beforeCreate: ({ fields }) => ({ ...fields, slug: "a" }) },
      }),
      // @ts-expect-error A hook returns all fields: this would erase the others.
      defineResource({ ...article, hooks: { beforeCreate: () => ({ slug: "a" }) } }),
      // @ts-expect-error There is no such field.
      defineResource({ ...article, unique: ["titel"] }),
      // @ts-expect-error There is no such field in the pair.
      defineResource({ ...article, unique: [["title", "auhtor"]] }),
      // @ts-expect-error Every document has another one anyway.
      defineResource({ ...article, unique: ["id"] }),
      // @ts-expect-error There is no such field.
      defineResource({ ...article, indexes: ["slgu"] }),
      // @ts-expect-error There is no such field in the pair.
      defineResource({ ...article, indexes: [["title", "createdAd"]] }),
      // @ts-expect-error There is no such field.
      defineResource({ ...article, search: ["titel"] }),
      // @ts-expect-error What nobody sees is not searched.
      defineResource({ ...article, search: ["slug"] }),
      // @ts-expect-error There is no such field.
      defineResource({ ...article, filter: ["title", "ta.city"] }),
      // @ts-expect-error What nobody sees is not filtered by.
      defineResource({ ...article, filter: ["slug"] }),
      // @ts-expect-error Nor is an owner whom nobody sees.
      defineResource({ ...article, fields: { author: { read: "nobody" } }, filter: ["author"] }),
      // @ts-expect-error Nor is a time.
      defineResource({ ...article, fields: { createdAt: "nobody" }, filter: ["createdAt"] }),
      // @ts-expect-error There is no such field.
      defineResource({ ...article, sort: ["titel"] }),
      // @ts-expect-error Without an owner there is no owner field.
      defineResource({ name, path, schema, access: {}, unique: [["title", "author"]] }),
    ];
    expectTypeOf(definitions).toBeFunction();
  });
});
