import type { Store } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { createApi } from "../../src/http/api.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Relation, Relations } from "../../src/resource/relations/relation-options.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { memoryStore, noAccounts } from "../api-client.ts";
import { resolveReferences } from "../resolve-references.ts";
import { openAsUsers } from "../as-users.ts";
import { counting } from "./counting-store.ts";

const open = {
  list: "public",
  show: "public",
  create: "public",
  update: "public",
  remove: "public",
} as const;
const id = z.string();

const person = defineResource({
  name: "person",
  path: "/people",
  schema: z.object({ name: z.string(), pin: z.string().default("") }),
  access: open,
  fields: { pin: { read: "nobody" } },
  relations: {
    articles: { to: (): Resource => article, inverse: "author", limit: 3 },
    diaries: { to: (): Resource => diary, inverse: "person" },
  },
  populate: { paths: ["articles.tags", "diaries"] },
});
const tag = defineResource({
  name: "tag",
  path: "/tags",
  schema: z.object({ label: z.string() }),
  access: open,
});
const article = defineResource({
  name: "article",
  path: "/articles",
  schema: z.object({
    title: z.string(),
    author: id,
    reviewerId: id.nullable().optional(),
    tags: z.array(id).default([]),
    mood: id.optional(),
  }),
  access: open,
  relations: {
    author: { to: (): Resource => person, onDelete: "cascade" },
    reviewer: { to: () => person, field: "reviewerId", onDelete: "nullify" },
    tags: { to: () => tag, many: true, onDelete: "nullify" },
    mood: { to: () => tag },
    comments: { to: (): Resource => comment, inverse: "article", limit: 2 },
  },
  populate: {
    paths: ["author", "reviewer", "tags", "mood", "comments.by", "author.diaries"],
  },
});
const comment = defineResource({
  name: "comment",
  path: "/comments",
  schema: z.object({ text: z.string(), article: id, by: id }),
  access: open,
  relations: {
    article: { to: () => article, onDelete: "cascade" },
    by: { to: () => person, onDelete: "restrict" },
  },
});
const diary = defineResource({
  name: "diary",
  path: "/diaries",
  schema: z.object({ text: z.string(), person: id, mine: z.boolean().default(false) }),
  access: {
    ...open,
    create: "user",
    list: "user",
    show: ({ user, document }) => {
      return user?.role === "admin" || document?.["writer"] === user?.id;
    },
  },
  owner: "writer",
  hooks: {
    beforeList: ({ call }) => (call.user?.id === "bob" ? { text: "hidden" } : undefined),
    afterShow: ({ shown }) => ({ ...shown, text: "shown by hook" }),
    beforeShow: ({ call }) => {
      if (call.request.headers.has("x-refuse")) throw new Problem(403);
    },
  },
  relations: { person: { to: () => person, onDelete: "cascade" } },
});
const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string(), diary: id }),
  access: open,
  relations: { diary: { to: () => diary } },
});

const all = [person, tag, article, comment, diary, note];
const routes = all.flatMap((one) =>
  resourceRoutes<typeof one.schema, string, unknown>(
    one,
    createResourceController<typeof one.schema>(one as never),
  ),
);

async function openAll(store?: Store) {
  const api = await openAsUsers(routes, store ? { store } : {});
  const make = async (path: string, body: unknown, who = "ann"): Promise<string> => {
    const { status, json } = await api.as(who, "POST", path, body);
    expect(status).toBe(201);
    return json.id;
  };
  const count = (resource: Resource) => api.store.collection(resource.collection).count();
  return { ...api, make, count };
}

describe("a definition", () => {
  const define = (relations: Relations, more: object = {}): Resource =>
    defineResource({
      name: "thing",
      path: "/things",
      schema: z.object({
        one: id,
        some: z.array(id).default([]),
        size: z.number().default(0),
        hid: id.optional(),
      }),
      access: open,
      fields: { hid: { read: "nobody" } },
      relations,
      ...more,
    });
  const to = (): Resource => tag;

  it.each<[string, Relations]>([
    ["a field that it lacks", { none: { to } }],
    ["a field of another type", { size: { to } }],
    ["one identifier where there are many", { some: { to } }],
    ["many identifiers where there is one", { one: { to, many: true } }],
    ["a secret field", { hid: { to } }],
    ["nullify of a required field", { one: { to, onDelete: "nullify" } }],
    ["a name of another field", { size: { to, field: "one" } }],
    ["a reserved name", { id: { to, field: "one" } }],
    ["a name that is none", { "a.b": { to, field: "one" } }],
    ["an inverse relation with a field", { more: { to, inverse: "x", field: "one" } }],
    ["a limit of an inverse relation out of its range", { more: { to, inverse: "x", limit: 0 } }],
    ["a limit of a relation that is not inverse", { one: { to, limit: 3 } }],
    ["an unknown policy", { one: { to, onDelete: "explode" as never } }],
    ["no function", { one: { to: tag as never } }],
  ])("refuses %s", (_what, relations) => {
    expect(() => define(relations)).toThrow(RestError);
  });

  it.each([
    ["a path that begins with no relation", { paths: ["size"] }],
    ["a path that is too long", { paths: ["one.a.b.c.d.e"] }],
  ])("refuses to populate %s", (_what, populate) => {
    expect(() => define({ one: { to } }, { populate })).toThrow(RestError);
  });

  it.each<[string, Relation, string]>([
    ["to nothing", { to: () => undefined as never }, "one"],
    ["whose path leads nowhere", { to }, "one.none"],
    ["that turns round what does not lead here", { to: () => comment, inverse: "by" }, "more"],
  ])("refuses a relation %s when the API is made", async (_what, relation, path) => {
    const name = path.split(".")[0] ?? "";
    const thing = define({ [name]: relation }, { populate: { paths: [path] } });
    const store = await memoryStore();
    const make = () =>
      createApi({
        title: "T",
        version: "1",
        store,
        authentication: noAccounts(),
        routes: resourceRoutes(thing, createResourceController(thing)),
      });
    expect(make).toThrow(RestError);
  });
});

describe("a reference", () => {
  it("to nothing is refused with its field, and nothing is stored", async () => {
    const { as, make, count } = await openAll();
    const author = await make("/people", { name: "A" });
    const refused = await as("ann", "POST", "/articles", { title: "t", author: "none" });
    expect(refused.json).toMatchObject({ status: 400, param: "author", name: "reference" });
    const many = await as("ann", "POST", "/articles", {
      title: "t",
      author,
      reviewerId: "none",
      tags: [await make("/tags", { label: "x" }), "no"],
    });
    expect(many.json.errors.map(({ param }: { param: string }) => param)).toEqual([
      "reviewerId",
      "tags.1",
    ]);
    expect(await count(article)).toBe(0);
  });

  it.each(["PUT", "PATCH"])("is checked when %s changes it, and not otherwise", async (method) => {
    const { as, make, store } = await openAll();
    const author = await make("/people", { name: "A" });
    const path = `/articles/${await make("/articles", { title: "t", author })}`;
    expect((await as("ann", method, path, { author: "none" })).status).toBe(400);
    expect((await as("ann", method, path, { reviewerId: author })).status).toBe(200);
    // What went missing by other ways is not the fault of the one who changes the title.
    await store.collection(person.collection).remove(author);
    expect((await as("ann", method, path, { title: "u" })).status).toBe(200);
    expect((await as("ann", "GET", path)).json).toMatchObject({ title: "u", author });
  });

  it("is not made to a document that goes at the same time", async () => {
    const { as, make, count, store } = await openAll();
    for (let round = 0; round < 10; round += 1) {
      const author = await make("/people", { name: "A" });
      await Promise.all([
        as("ann", "DELETE", `/people/${author}`),
        as("ann", "POST", "/articles", { title: "t", author }),
      ]);
    }
    for (const one of await store.collection(article.collection).find()) {
      expect(await store.collection(person.collection).get(one.author)).toBeDefined();
    }
    expect(await count(article)).toBe(0);
  });
});

describe("populate", () => {
  it.each(["title", "author.articles", "pin", "__proto__", "comments.article", "author,none"])(
    "refuses the path %s",
    async (path) => {
      const { as } = await openAll();
      for (const at of ["/articles", "/articles/1"]) {
        const refused = await as("", "GET", `${at}?populate=${path}`);
        expect(refused.json).toMatchObject({ status: 400, param: "populate", name: "enum" });
      }
      expect((await as("", "GET", "/tags?populate=x")).json).toMatchObject({ name: "unknown" });
    },
  );

  it("shows documents in the place of identifiers, next to them, and in lists", async () => {
    const { as, make } = await openAll();
    const author = await make("/people", { name: "A", pin: "my-pin" });
    const [x, y] = [await make("/tags", { label: "x" }), await make("/tags", { label: "y" })];
    const own = { title: "t", author, reviewerId: author, tags: [y, x] };
    const article1 = await make("/articles", own);
    for (const text of ["1", "2", "3"])
      await make("/comments", { text, article: article1, by: author });
    const path = `/articles/${article1}?populate=author,reviewer,tags,comments.by`;
    const { json } = await as("", "GET", path);
    expect(json).toMatchObject({
      title: "t",
      author: { id: author, name: "A" },
      reviewer: { name: "A" },
      reviewerId: author,
      tags: [{ label: "y" }, { label: "x" }],
      comments: [
        { text: "3", article: article1, by: { name: "A" } },
        { text: "2", article: article1, by: { name: "A" } },
      ],
    });
    expect(JSON.stringify(json)).not.toContain("my-pin");
    const list = await as("", "GET", `/articles?populate=author&populate=tags&fields=title`);
    expect(list.json).toEqual([
      { id: article1, title: "t", author: expect.objectContaining({ name: "A" }), tags: json.tags },
    ]);
    const next = await as("", "GET", "/people?populate=articles.tags&limit=1");
    expect(next.json[0].articles[0].tags).toEqual(json.tags);
  });

  it("shows null for what is missing, and leaves out what is not given", async () => {
    const { as, make, store } = await openAll();
    const author = await make("/people", { name: "A" });
    const gone = await make("/tags", { label: "x" });
    const own = await make("/articles", { title: "t", author, tags: [gone] });
    await store.collection(person.collection).remove(author);
    await store.collection(tag.collection).remove(gone);
    const { json } = await as("", "GET", `/articles/${own}?populate=author,tags,reviewer,mood`);
    expect(json).toMatchObject({ author: null, tags: [null] });
    expect(json).not.toHaveProperty("reviewer");
  });

  it("leaves the identifier of what the caller may not see", async () => {
    const { as, make } = await openAll();
    const by = await make("/people", { name: "A" });
    const own = await make("/diaries", { text: "secret", person: by });
    const path = `/notes/${await make("/notes", { text: "n", diary: own })}?populate=diary`;
    expect((await as("", "GET", path)).json.diary).toBe(own);
    expect((await as("bob", "GET", path)).json.diary).toBe(own);
    expect((await as("ann", "GET", path)).json.diary).toMatchObject({ text: "shown by hook" });
    expect((await as("root", "GET", path)).json.diary).toMatchObject({ id: own });
    expect((await as("ann", "GET", path, undefined, { "x-refuse": "1" })).json.diary).toBe(own);
  });

  it("shows of an inverse relation only what its list and its rule show", async () => {
    const { as, make } = await openAll();
    const by = await make("/people", { name: "A" });
    await make("/diaries", { text: "a", person: by });
    await make("/diaries", { text: "hidden", person: by }, "bob");
    const path = `/people/${by}?populate=diaries`;
    expect((await as("", "GET", path)).json).not.toHaveProperty("diaries");
    expect((await as("ann", "GET", path)).json.diaries).toHaveLength(1);
    expect((await as("bob", "GET", path)).json.diaries).toHaveLength(1);
    expect((await as("root", "GET", path)).json.diaries).toHaveLength(2);
  });

  it("reads once per relation and level, however many documents there are", async () => {
    const memory = await memoryStore();
    const { store, calls } = counting(memory);
    const { as, make } = await openAll(store);
    for (let index = 0; index < 12; index += 1) {
      const author = await make("/people", { name: `P${index}` });
      const label = await make("/tags", { label: `T${index}` });
      const own = await make("/articles", { title: "t", author, tags: [label] });
      await make("/comments", { text: "c", article: own, by: author });
    }
    calls.length = 0;
    const { json } = await as("", "GET", "/articles?populate=author,tags,comments.by&limit=100");
    expect(json).toHaveLength(12);
    expect(json.every((one: { comments: object[] }) => one.comments.length === 1)).toBe(true);
    expect(calls).toEqual([
      "articles.find",
      "people.getMany",
      "tags.getMany",
      "comments.find",
      "people.getMany",
    ]);
  });

  it("returns for each document its share of an inverse relation, next to one that has very many", async () => {
    const { as, make } = await openAll();
    const author = await make("/people", { name: "A" });
    const quiet = await make("/articles", { title: "quiet", author });
    await make("/comments", { text: "old", article: quiet, by: author });
    const loud = await make("/articles", { title: "loud", author });
    for (let index = 0; index < 6; index += 1) {
      await make("/comments", { text: `${index}`, article: loud, by: author });
    }
    const { json } = await as("", "GET", "/articles?populate=comments&sort=createdAt");
    const texts = json.map(({ comments }: { comments: { text: string }[] }) =>
      comments.map(({ text }) => text),
    );
    expect(texts).toEqual([["old"], ["5", "4"]]);
  });

  it("is never answered with 304, since others may have changed", async () => {
    const { as, make } = await openAll();
    const author = await make("/people", { name: "A" });
    const path = `/articles/${await make("/articles", { title: "t", author })}`;
    const { headers } = await as("", "GET", path);
    const tagged = { "if-none-match": headers.get("etag") ?? "" };
    expect((await as("", "GET", path, undefined, tagged)).status).toBe(304);
    const whole = await as("", "GET", `${path}?populate=author`, undefined, tagged);
    expect(whole.status).toBe(200);
    expect(whole.headers.get("etag")).toBe('"1"');
  });
});

describe("a deletion", () => {
  it("is refused while others refer to it, and undone wholly", async () => {
    const { as, make, count } = await openAll();
    const author = await make("/people", { name: "A" });
    const other = await make("/people", { name: "B" });
    const own = await make("/articles", { title: "t", author });
    const first = await make("/comments", { text: "c", article: own, by: other });
    const refused = await as("ann", "DELETE", `/people/${other}`);
    expect(refused.json).toMatchObject({ status: 409, detail: "comments refer to it" });
    expect(await count(person)).toBe(2);
    await as("ann", "DELETE", `/comments/${first}`);
    expect((await as("ann", "DELETE", `/people/${other}`)).status).toBe(204);
  });

  it("takes with it what belongs to it, over several relations", async () => {
    const { as, make, count } = await openAll();
    const author = await make("/people", { name: "A" });
    const other = await make("/people", { name: "B" });
    const own = await make("/articles", { title: "t", author });
    await make("/comments", { text: "c", article: own, by: other });
    await make("/diaries", { text: "d", person: author });
    await make("/articles", { title: "stays", author: other, reviewerId: author });
    expect((await as("ann", "DELETE", `/people/${author}`)).status).toBe(204);
    expect(await Promise.all([person, article, comment, diary].map(count))).toEqual([1, 1, 0, 0]);
    const [left] = (await as("", "GET", "/articles")).json;
    expect(left).toMatchObject({ title: "stays", reviewerId: null });
  });

  it("keeps what only a part of it restricts", async () => {
    const { as, make, count } = await openAll();
    const author = await make("/people", { name: "A" });
    const own = await make("/diaries", { text: "d", person: author });
    await make("/notes", { text: "n", diary: own });
    expect((await as("ann", "DELETE", `/people/${author}`)).status).toBe(409);
    expect(await Promise.all([person, diary, note].map(count))).toEqual([1, 1, 1]);
  });

  it("takes an identifier out of lists and fields, with another version", async () => {
    const { as, make } = await openAll();
    const author = await make("/people", { name: "A" });
    const [x, y] = [await make("/tags", { label: "x" }), await make("/tags", { label: "y" })];
    const path = `/articles/${await make("/articles", { title: "t", author, tags: [x, y, x] })}`;
    expect((await as("ann", "DELETE", `/tags/${x}`)).status).toBe(204);
    const { json, headers } = await as("", "GET", path);
    expect([json.tags, headers.get("etag")]).toEqual([[y], '"2"']);
  });

  it("is refused when it would reach more than 1,000 documents", async () => {
    const { as, make, count, store } = await openAll();
    const author = await make("/people", { name: "A" });
    const many = Array.from({ length: 1_001 }, (_, index) => ({
      title: `${index}`,
      author,
      tags: [],
    }));
    await store.collection(article.collection).insertMany(many);
    expect((await as("ann", "DELETE", `/people/${author}`)).status).toBe(409);
    expect(await count(article)).toBe(1_001);
    await store.collection(article.collection).removeMany({ where: { title: "0" } });
    expect((await as("ann", "DELETE", `/people/${author}`)).status).toBe(204);
    expect(await count(article)).toBe(0);
  });

  it("of a document that refers to itself is none to refuse", async () => {
    const node = defineResource({
      name: "node",
      path: "/nodes",
      schema: z.object({ parent: id.optional() }),
      access: open,
      relations: { parent: { to: (): Resource => node } },
    });
    const own = resourceRoutes(node, createResourceController(node));
    const { as } = await openAsUsers(own);
    const { json } = await as("", "POST", "/nodes", {});
    expect((await as("", "PUT", `/nodes/${json.id}`, { parent: json.id })).status).toBe(200);
    expect((await as("", "DELETE", `/nodes/${json.id}`)).status).toBe(204);
  });
});

it("relations are described with what they may show", async () => {
  const { openApi } = await openAll();
  const paths = resolveReferences(openApi).paths as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
  const { get } = paths["/articles/{id}"];
  expect(get.parameters.map(({ name }: { name: string }) => name)).toContain("populate");
  const { properties } = get.responses[200].content["application/json"].schema;
  expect(properties.author.anyOf).toHaveLength(3);
  expect(properties.comments.type).toBe("array");
  expect(Object.keys(paths["/people/{id}"].delete.responses)).toContain("409");
  expect(Object.keys(paths["/comments/{id}"].delete.responses)).not.toContain("409");
});

it.each([
  ["/articles/{id}", "get", 200, true],
  ["/articles", "get", 200, true],
  ["/articles", "post", 201, false],
  ["/articles/{id}", "put", 200, false],
  ["/articles/{id}", "patch", 200, false],
])("%s describes documents in the place of identifiers for %s: %s, %s", async (...row) => {
  const [path, method, status, isPopulated] = row;
  const { openApi } = await openAll();
  const paths = resolveReferences(openApi).paths as any; // oxlint-disable-line typescript/no-explicit-any -- looked into as it comes
  const { schema } = paths[path][method].responses[status].content["application/json"];
  const { author, comments } = (schema.items ?? schema).properties;
  const document = { type: "object" };
  if (isPopulated) expect(author.anyOf).toContainEqual(document);
  else expect(author).toEqual({ type: "string" });
  expect(comments).toEqual(isPopulated ? { type: "array", items: document } : undefined);
});
