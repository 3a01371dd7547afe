import type { Store } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { adminViewer } from "../../src/resource/views.ts";
import { memoryStore } from "../api-client.ts";
import { openAsUsers } from "../as-users.ts";
import { counting } from "../relations/counting-store.ts";

const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({
    name: z.string().optional(),
    picture: z.string().optional(),
    email: z.string(),
  }),
  derived: { name: { from: "email", value: ({ email }) => `derived-${email}` } },
  access: { list: "admin", show: "user", create: "master", update: "owner", remove: "admin" },
  owner: "id",
  fields: {
    email: { read: "owner" },
    createdAt: { read: "owner" },
    updatedAt: { read: "owner" },
  },
});

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({ text: z.string() }),
  access: { list: "public", show: "public", create: "user", update: "user", remove: "user" },
  owner: "author",
  filter: ["author"],
  softDelete: true,
  bulk: true,
  relations: {
    writer: { to: (): Resource => member, field: "author" },
    answers: { to: (): Resource => answer, inverse: "note" },
  },
});

const answer = defineResource({
  name: "answer",
  path: "/answers",
  schema: z.object({ note: z.string() }),
  access: { list: "public", show: "public", create: "user" },
  owner: "by",
  relations: { note: { to: (): Resource => note } },
});

const resources = [member, note, answer] as readonly Resource[];

async function open(given: readonly Resource[] = resources, store?: Store) {
  const routes = given.flatMap((one) => resourceRoutes(one, createResourceController(one)));
  const api = await openAsUsers(routes, store ? { store } : {});
  const members = api.store.collection(member.collection);
  await members.insert({ email: "ann@example.com", picture: "https://a/" }, { id: "ann" });
  await members.insert({ email: "bob@example.com", name: "Bob" }, { id: "bob" });
  const create = async (who: string): Promise<string> =>
    (await api.as(who, "POST", "/notes", { text: "t" })).json.id;
  return { ...api, members, create };
}

const others = { id: "ann", name: null, picture: "https://a/" };
const own = { ...others, name: "derived-ann@example.com" };

describe("the owner of a document", () => {
  it.each([
    ["", others],
    ["bob", others],
    ["ann", own],
    ["root", own],
    ["master", others],
  ])(
    "is shown to %j in every answer by the view of that caller, at most by the public one",
    async (who, author) => {
      const { as, create } = await open();
      const id = await create("ann");
      expect((await as(who, "GET", `/notes/${id}`)).json.author).toEqual(author);
      expect((await as(who, "GET", "/notes")).json[0].author).toEqual(author);
      expect((await as(who, "GET", "/notes?author=ann&fields=author")).json).toEqual([
        { id, author },
      ]);
      if (who === "" || who === "master") return;
      const path = `/notes/${id}`;
      expect((await as(who, "PUT", path, { text: "u" })).json.author).toEqual(author);
      expect((await as(who, "PATCH", path, { text: "v" })).json.author).toEqual(author);
      const item = { op: "patch", id, body: { text: "w" } };
      const bulk = await as(who, "POST", "/notes/bulk", { operations: [item] });
      expect(bulk.json[0]).toMatchObject({ version: 4, body: { author } });
      await as(who, "DELETE", path);
      const restored = await as("root", "POST", `${path}/restore`);
      expect(restored.json.author).toEqual(own);
    },
  );

  it("is shown with a document that was created, and not set by what is sent", async () => {
    const { as } = await open();
    const author = { id: "bob" };
    const created = await as("ann", "POST", "/notes", { text: "t", author });
    expect(created.json.author).toEqual(own);
    const changed = await as("bob", "PUT", `/notes/${created.json.id}`, { author });
    expect(changed.json.author).toEqual(others);
  });

  it("is null when the user was removed, or nobody is known", async () => {
    const { as, create, members, store } = await open();
    const id = await create("ann");
    await store.collection(note.collection).insert({ text: "t" }, { id: "old" });
    await members.remove("ann");
    expect((await as("", "GET", `/notes/${id}`)).json.author).toBeNull();
    expect((await as("", "GET", "/notes/old")).json.author).toBeNull();
  });

  it("is shown with populated documents too, unless its field has a relation", async () => {
    const { as, create, store } = await open();
    const id = await create("ann");
    await store.collection(answer.collection).insert({ note: id, by: "bob" });
    const { json } = await as("ann", "GET", `/notes/${id}?populate=answers,writer`);
    expect(json).toMatchObject({
      author: own,
      writer: { email: "ann@example.com" },
      answers: [{ by: { id: "bob", name: "Bob", picture: null } }],
    });
    const open_ = await as("", "GET", `/notes/${id}?populate=writer`);
    expect(open_.json).toMatchObject({ author: others });
    expect(open_.json).not.toHaveProperty("writer");
  });

  it("is read with one query for a page, and with none where nobody asks for it", async () => {
    const { calls, store } = counting(await memoryStore());
    const { as, create } = await open(resources, store);
    for (const who of ["ann", "bob", "ann"]) await create(who);
    calls.length = 0;
    await as("", "GET", "/notes");
    expect(calls).toEqual(["notes.find", "members.getMany"]);
    calls.length = 0;
    await as("", "GET", "/notes?fields=text");
    await as("", "GET", "/notes?fields=-author");
    expect(calls).toEqual(["notes.find", "notes.find"]);
  });

  it("changes the entity tags with it, for reading and not for changes", async () => {
    const { as, create, members } = await open();
    const id = await create("ann");
    const tags: string[] = [];
    for (const path of [`/notes/${id}`, "/notes"]) {
      const tag = (await as("", "GET", path)).headers.get("etag") ?? "";
      tags.push(tag);
      expect((await as("", "GET", path, undefined, { "if-none-match": tag })).status).toBe(304);
      // Another caller sees another name.
      expect((await as("ann", "GET", path, undefined, { "if-none-match": tag })).status).toBe(200);
    }
    await members.update("ann", { name: "Ann" });
    for (const [index, path] of [`/notes/${id}`, "/notes"].entries()) {
      const headers = { "if-none-match": tags[index] };
      expect((await as("", "GET", path, undefined, headers)).status).toBe(200);
    }
    const path = `/notes/${id}`;
    const change = (headers: object) => as("bob", "PUT", path, { text: "u" }, headers);
    expect((await change({ "if-none-match": tags[0] })).status).toBe(412);
    expect((await change({ "if-match": tags[0] })).status).toBe(200);
    expect((await change({ "if-match": tags[0] })).status).toBe(412);
    expect((await change({ "if-match": '"2"' })).status).toBe(200);
  });

  it("differs by caller, so no shared cache keeps it for another", async () => {
    const { as, create } = await open();
    await create("ann");
    expect((await as("", "GET", "/notes")).headers.get("vary")).toContain("Authorization");
  });

  it("is hidden by rules of fields", async () => {
    const define = (options: object): Resource =>
      defineResource({
        name: "note",
        path: "/notes",
        schema: z.object({ text: z.string() }),
        access: { list: "public", show: "public", create: "user" },
        owner: "author",
        filter: ["author"],
        ...options,
      });
    const hidden = await open([
      member,
      define({ fields: { author: { read: "nobody" } }, filter: [] }),
    ]);
    await hidden.create("ann");
    expect((await hidden.as("root", "GET", "/notes")).json[0]).not.toHaveProperty("author");
    expect((await hidden.as("root", "GET", "/notes?fields=author")).status).toBe(400);
    const narrow = await open([member, define({ fields: { author: { read: "admin" } } })]);
    await narrow.create("ann");
    expect((await narrow.as("bob", "GET", "/notes")).json[0]).not.toHaveProperty("author");
    expect((await narrow.as("bob", "GET", "/notes?author=ann")).status).toBe(400);
    expect((await narrow.as("bob", "GET", "/notes?fields=author")).status).toBe(400);
    expect((await narrow.as("root", "GET", "/notes?author=ann")).json[0].author).toEqual(own);
  });

  it("is shown by nothing where the API has no users", async () => {
    const { as } = await openAsUsers(
      resourceRoutes(answer, createResourceController(answer)).filter(
        ({ operation }) => operation !== "x",
      ),
    );
    // The relation leads to notes, whose relation leads to the users.
    expect((await as("ann", "POST", "/answers", { note: "x" })).status).toBe(400);
    const lone = defineResource({
      name: "lone",
      path: "/lones",
      schema: z.object({ text: z.string() }),
      access: { create: "user", show: "public" },
      owner: "author",
    });
    const api = await openAsUsers(resourceRoutes(lone, createResourceController(lone)));
    const created = await api.as("ann", "POST", "/lones", { text: "t" });
    expect(created.json).not.toHaveProperty("author");
    expect(created.headers.get("etag")).toBe('"1"');
  });

  it("is described as a named schema", async () => {
    const { openApi } = await open();
    const { schemas } = openApi.components as { schemas: Record<string, object> };
    expect(schemas["PublicUser"]).toMatchObject({ required: ["id", "name", "picture"] });
    expect(schemas["Note"]).toMatchObject({
      properties: {
        author: { anyOf: [{ $ref: "#/components/schemas/PublicUser" }, { type: "null" }] },
      },
    });
  });

  it("is ambiguous with two resources of users", async () => {
    const other = defineResource({
      name: "other",
      path: "/others",
      schema: z.object({ name: z.string() }),
      access: {},
      owner: "id",
    });
    await expect(open([member, other, note])).rejects.toThrow(RestError);
    await expect(open([member, other, note])).rejects.toThrow(/owner of note is ambiguous/);
  });

  const schema = z.object({ name: z.string().optional(), email: z.string() });
  const name = { from: "email", value: () => "x" };
  it.each<[object, RegExp]>([
    [{ derived: { name: { ...name, from: "none" } } }, /derived from none/],
    [{ derived: { name: { ...name, from: "name" } } }, /derived from name/],
    [{ derived: { email: name } }, /must be optional/],
    [{ derived: { other: name } }, /no field other/],
    [{ derived: { name }, fields: { name: { read: "nobody" } } }, /not shown/],
    [{ derived: { name: { ...name, form: 1 } } }, /form/],
  ])("is not defined by %j", (options, message) => {
    const base = { name: "one", path: "/ones", schema, access: {} };
    expect(() => defineResource({ ...base, ...options })).toThrow(message);
  });
});

describe("an owner whom nobody sees", () => {
  const secret = defineResource({
    name: "vote",
    path: "/votes",
    schema: z.object({ text: z.string() }),
    access: { list: "public", show: "public", create: "user" },
    owner: "author",
    fields: { author: { read: "nobody" } },
    relations: { author: { to: (): Resource => member, onDelete: "cascade" } },
  });

  it("may be a relation that removes documents with their user, and shows nothing", async () => {
    const { as, members } = await open([secret, member]);
    await as("ann", "POST", "/votes", { text: "t" });
    expect((await as("root", "GET", "/votes?populate=author")).status).toBe(400);
    expect(secret.output["properties"]).not.toHaveProperty("author");
    await members.insert({ email: "root@example.com" }, { id: "root" });
    expect((await as("root", "DELETE", "/members/ann")).status).toBe(204);
    expect((await as("root", "GET", "/votes")).json).toEqual([]);
  });

  it("is not shown by a handler that names the field", async () => {
    const { as, store } = await open([secret, member]);
    const { id } = (await as("ann", "POST", "/votes", { text: "t" })).json;
    const document = (await store.collection(secret.collection).get(id)) ?? expect.fail();
    expect(secret.present(document, adminViewer, ["text", "author"])).toEqual({ text: "t" });
  });
});

describe("a combination with the owner that is unique", () => {
  const review = defineResource({
    name: "review",
    path: "/reviews",
    schema: z.object({
      product: z.string(),
      stars: z.number().default(1),
      code: z.string().optional(),
    }),
    fields: { code: "nobody" },
    access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
    owner: "author",
    unique: [["product", "author"], "code"],
    hooks: { beforeCreate: ({ fields }) => ({ ...fields, code: `of ${fields.product}` }) },
  });
  const routes = resourceRoutes(review, createResourceController(review));

  it("allows one document of each user, also at the same time", async () => {
    const { as } = await openAsUsers(routes);
    const many = await Promise.all(
      Array.from({ length: 10 }, () => as("ann", "POST", "/reviews", { product: "p" })),
    );
    const created = many.filter(({ status }) => status === 201);
    const refused = many.filter(({ status }) => status === 409);
    expect([created.length, refused.length]).toEqual([1, 9]);
  });

  it("lets another user review the product, and names the fields that are taken, not their values", async () => {
    const uncoded = { ...review, hooks: {} };
    const { as } = await openAsUsers(resourceRoutes(uncoded, createResourceController(uncoded)));
    const first = await as("ann", "POST", "/reviews", { product: "p-17" });
    expect(first.status).toBe(201);
    expect((await as("bob", "POST", "/reviews", { product: "p-17" })).status).toBe(201);
    const second = await as("ann", "POST", "/reviews", { product: "q" });
    const path = `/reviews/${second.json.id}`;
    for (const refused of [
      await as("ann", "POST", "/reviews", { product: "p-17" }),
      await as("ann", "PUT", path, { product: "p-17" }),
    ]) {
      expect(refused.status).toBe(409);
      const message = "the combination of product, author is already registered";
      expect(refused.json.errors).toEqual([
        { valid: false, param: "product", name: "unique", message },
      ]);
      expect(JSON.stringify(refused.json)).not.toMatch(/p-17|ann|bob/);
    }
  });

  it("may have an owner whom nobody sees, since a conflict is with a document of the caller", async () => {
    const secret = defineResource({
      name: "review",
      path: "/reviews",
      schema: z.object({ product: z.string() }),
      access: { list: "public", create: "user" },
      owner: "author",
      fields: { author: { read: "nobody" } },
      unique: [["product", "author"]],
    });
    const { as } = await openAsUsers(resourceRoutes(secret));
    expect((await as("ann", "POST", "/reviews", { product: "p" })).status).toBe(201);
    expect((await as("ann", "POST", "/reviews", { product: "p" })).status).toBe(409);
    expect((await as("bob", "POST", "/reviews", { product: "p" })).status).toBe(201);
  });

  it("may also have fields that clients do not see", async () => {
    const { as } = await openAsUsers(routes);
    expect((await as("ann", "POST", "/reviews", { product: "p" })).status).toBe(201);
    // Another user, so that only the hidden code is the same.
    expect((await as("bob", "POST", "/reviews", { product: "p" })).status).toBe(409);
    expect((await as("bob", "POST", "/reviews", { product: "q" })).status).toBe(201);
  });
});
