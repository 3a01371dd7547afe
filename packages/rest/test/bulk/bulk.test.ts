import { json } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openAsUsers } from "../as-users.ts";

const sent: unknown[] = [];
const seen: string[] = [];
const task = defineResource({
  name: "task",
  path: "/tasks",
  schema: z.object({
    title: z.string().min(1).max(20),
    place: z.number().int().optional(),
    after: z.string().optional(),
  }),
  access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
  owner: "writer",
  unique: ["place"],
  bulk: { limit: 5 },
  relations: { after: { to: (): Resource => task, onDelete: "restrict" } },
  hooks: {
    beforeCreate({ call, fields }) {
      sent.push(call.sent);
      if (fields.title === "hooked") throw new Problem(403, { detail: "not this one" });
    },
    afterCreate: ({ document }) => void seen.push(document.title),
  },
});
const controller = createResourceController(task);

async function open() {
  const api = await openAsUsers(resourceRoutes(task, controller));
  const bulk = (who: string, operations: unknown, headers?: object) =>
    api.as(who, "POST", "/tasks/bulk", { operations }, headers);
  const create = async (who: string, title: string): Promise<string> =>
    (await api.as(who, "POST", "/tasks", { title })).json.id;
  const titles = async (): Promise<readonly string[]> =>
    (await api.as("", "GET", "/tasks?sort=createdAt")).json.map(
      ({ title }: { title: string }) => title,
    );
  return { ...api, bulk, create, titles };
}

const fresh = (title: string) => ({ op: "create", body: { title } });

it("a hook gets what was sent for its item of a bulk request", async () => {
  const { bulk } = await open();
  sent.length = 0;
  await bulk("ann", [fresh("a"), { op: "create", body: { title: "b", place: 2 } }]);
  expect(sent).toEqual([{ title: "a" }, { title: "b", place: 2 }]);
});

describe("a bulk request", () => {
  it.each([
    ["no operations", undefined, "required"],
    ["something else than a list", { op: "remove" }, "type"],
    ["an empty list", [], "minlength"],
    ["more than the limit", Array.from({ length: 6 }, () => fresh("a")), "maxlength"],
  ])("is refused with %s", async (_what, operations, name) => {
    const { bulk } = await open();
    const refused = await bulk("ann", operations);
    expect(refused.json).toMatchObject({ status: 400, param: "operations", name });
  });

  it.each([
    ["something else than an object", 1, "operations", "type"],
    ["an unknown operation", { op: "upsert", body: {} }, "op", "enum"],
    ["no operation", {}, "op", "enum"],
    ["an unknown member", { ...fresh("a"), owner: "bob" }, "owner", "unknown"],
    ["an identifier for a new document", { ...fresh("a"), id: "1" }, "id", "unknown"],
    ["no body", { op: "create" }, "body", "required"],
    ["a body that is not an object", { op: "update", id: "1", body: [] }, "body", "type"],
    ["a body for a deletion", { op: "remove", id: "1", body: {} }, "body", "unknown"],
    ["no identifier", { op: "remove" }, "id", "required"],
    ["a version that is none", { op: "remove", id: "1", version: "1" }, "version", "type"],
  ])("is refused for an item with %s, with its position", async (_what, item, param, name) => {
    const { bulk, titles } = await open();
    const refused = await bulk("ann", [fresh("a"), item]);
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toMatchObject([{ param, name, index: 1 }]);
    expect(await titles()).toEqual([]);
  });

  it("is refused to nobody before it is looked at, where each operation needs a user", async () => {
    const { bulk } = await open();
    expect((await bulk("", "nothing")).status).toBe(401);
    expect((await bulk("ann", "nothing")).status).toBe(400);
  });

  it("names no more than 100 that are not valid", async () => {
    const memo = defineResource({
      name: "memo",
      path: "/memos",
      schema: z.object({ text: z.string() }),
      access: { create: "public", update: "public" },
      bulk: { limit: 300 },
    });
    const { as } = await openAsUsers(resourceRoutes(memo, createResourceController(memo)));
    const { id } = (await as("", "POST", "/memos", { text: "a" })).json;
    for (const item of [
      { op: "create", body: {} },
      { op: "update", id, body: { text: 1 } },
    ]) {
      const operations = Array.from({ length: 150 }, () => item);
      expect((await as("", "POST", "/memos/bulk", { operations })).json.errors).toHaveLength(100);
    }
  });

  it("names every item that is not valid, and changes nothing", async () => {
    const { bulk, create, titles } = await open();
    const id = await create("ann", "old");
    const created = await bulk("ann", [
      fresh(""),
      fresh("b"),
      { op: "create", body: { title: 1 } },
    ]);
    expect(created.json.errors).toMatchObject([
      { param: "title", name: "minlength", index: 0 },
      { param: "title", name: "type", index: 2 },
    ]);
    const changed = await bulk("ann", [
      { op: "update", id, body: { title: "" } },
      { op: "update", id, body: { title: "new" } },
      { op: "patch", id, body: { title: null } },
      { op: "create", body: { title: "x", after: "none" } },
    ]);
    expect(changed.status).toBe(400);
    expect(changed.json.errors).toMatchObject([
      { param: "title", index: 0 },
      { param: "title", name: "required", index: 2 },
      { param: "after", name: "reference", index: 3 },
    ]);
    expect(await titles()).toEqual(["old"]);
  });

  it("creates, changes and deletes in order, and answers what became of each", async () => {
    const { bulk, create, titles } = await open();
    const [one, two] = [await create("ann", "one"), await create("ann", "two")];
    const { status, json: results } = await bulk("ann", [
      fresh("three"),
      { op: "update", id: one, version: 1, body: { title: "uno" } },
      { op: "patch", id: one, version: 2, body: { place: 1 } },
      { op: "remove", id: two, version: 1 },
    ]);
    expect(status).toBe(200);
    expect(results).toMatchObject([
      { status: 201, version: 1, body: { title: "three" } },
      { status: 200, id: one, version: 2, body: { title: "uno" } },
      { status: 200, id: one, version: 3, body: { title: "uno", place: 1 } },
      { status: 204, id: two },
    ]);
    expect(results[3]).toEqual({ status: 204, id: two });
    expect(await titles()).toEqual(["uno", "three"]);
  });

  it.each([
    ["another version", 412, (id: string) => ({ op: "update", id, version: 7, body: {} })],
    ["no document", 404, () => ({ op: "remove", id: "none" })],
    ["a value that is taken", 409, () => ({ op: "create", body: { title: "x", place: 1 } })],
    ["a hook that refuses", 403, () => fresh("hooked")],
  ])("is undone wholly by an item with %s", async (_what, status, item) => {
    const { bulk, create, titles, as } = await open();
    const id = await create("ann", "old");
    await as("ann", "PUT", `/tasks/${id}`, { place: 1 });
    const refused = await bulk("ann", [
      fresh("new"),
      { op: "remove", id: await create("ann", "x") },
      item(id),
    ]);
    expect(refused.status).toBe(status);
    expect(refused.json.errors).toMatchObject([{ index: 2 }]);
    expect(refused.headers.has("etag")).toBe(false);
    expect(await titles()).toEqual(["old", "x"]);
  });

  it("applies the rule of each operation to each item", async () => {
    const { bulk, create, titles } = await open();
    const [own, others] = [await create("bob", "bob"), await create("ann", "ann")];
    expect((await bulk("", [fresh("a")])).status).toBe(401);
    const mixed = await bulk("bob", [
      { op: "remove", id: own },
      { op: "remove", id: others },
    ]);
    expect(mixed.status).toBe(403);
    expect(mixed.json.errors).toMatchObject([{ index: 1 }]);
    expect(await titles()).toEqual(["bob", "ann"]);
    expect((await bulk("root", [{ op: "remove", id: others }])).status).toBe(200);
    expect((await bulk("bob", [{ op: "update", id: own, body: { writer: "ann" } }])).status).toBe(
      200,
    );
    expect((await bulk("ann", [{ op: "remove", id: own }])).status).toBe(403);
  });

  it("refuses each item of a caller without token where some operations are public", async () => {
    const mixed = defineResource({
      name: "memo",
      path: "/memos",
      schema: z.object({ text: z.string() }),
      access: { create: "public", update: "user", remove: () => false },
      bulk: true,
    });
    const { as } = await openAsUsers(resourceRoutes(mixed, createResourceController(mixed)));
    const bulk = (who: string, one: object) =>
      as(who, "POST", "/memos/bulk", { operations: [one] });
    const created = await bulk("", { op: "create", body: { text: "a" } });
    expect(created.status).toBe(200);
    const { id } = created.json[0];
    expect((await bulk("", { op: "update", id, body: { text: "b" } })).status).toBe(401);
    expect((await bulk("ann", { op: "update", id, body: { text: "b" } })).status).toBe(200);
    expect((await bulk("root", { op: "remove", id })).status).toBe(403);
  });

  it("runs hooks per item, those after it once it is committed", async () => {
    const { bulk } = await open();
    seen.length = 0;
    await bulk("ann", [fresh("a"), fresh("b"), fresh("")]);
    await bulk("ann", [fresh("a"), fresh("hooked")]);
    expect(seen).toEqual([]);
    await bulk("ann", [fresh("a"), fresh("b")]);
    expect(seen).toEqual(["a", "b"]);
  });

  it("has one effect under one Idempotency-Key", async () => {
    const { bulk, titles } = await open();
    seen.length = 0;
    const headers = { "idempotency-key": "key-1" };
    const first = await bulk("ann", [fresh("a"), fresh("b")], headers);
    const again = await bulk("ann", [fresh("a"), fresh("b")], headers);
    expect(again.json).toEqual(first.json);
    expect(await titles()).toEqual(["a", "b"]);
    expect(seen).toEqual(["a", "b"]);
  });

  it("uses handlers that replace ours", async () => {
    const create = async (): Promise<Response> => json({ id: "mine" }, { status: 201 });
    const { as } = await openAsUsers(resourceRoutes(task, { ...controller, create }));
    const answer = await as("ann", "POST", "/tasks/bulk", { operations: [fresh("a")] });
    expect(answer.json).toEqual([{ status: 201, id: "mine", body: { id: "mine" } }]);
  });

  it("that only changes at once with others loses no update", async () => {
    const { bulk, create, as } = await open();
    const ids = [await create("ann", "a"), await create("ann", "b")];
    const changes = Array.from({ length: 10 }, (_, index) =>
      bulk(
        "ann",
        ids.map((id) => ({ op: "update", id, body: { title: `t${index}` } })),
      ),
    );
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200);
    const both = await Promise.all(ids.map((id) => as("", "GET", `/tasks/${id}`)));
    expect(both.map(({ headers }) => headers.get("etag"))).toEqual(['"11"', '"11"']);
    expect(new Set(both.map(({ json: { title } }) => title)).size).toBe(1);
  });
});

describe("a resource", () => {
  const options = {
    name: "memo",
    path: "/memos",
    schema: z.object({ text: z.string() }),
    access: { list: "public" },
  } as const;

  it("has no bulk requests unless it declares them", async () => {
    const plain = defineResource(options);
    const { as } = await openAsUsers(resourceRoutes(plain, createResourceController(plain)));
    expect((await as("root", "POST", "/memos/bulk", { operations: [] })).status).toBe(405);
  });

  it.each([0, 1_001, 1.5])("refuses a limit of %d", (limit) => {
    expect(() => defineResource({ ...options, bulk: { limit } })).toThrow(RestError);
  });

  it("refuses bulk where some operations need the master key", () => {
    const access = { create: "master", update: "user" } as const;
    const mixed = defineResource({ ...options, access, bulk: true });
    expect(() => resourceRoutes(mixed, createResourceController(mixed))).toThrow(RestError);
  });

  it("takes bulk with the master key where all operations need it", async () => {
    const access = { create: "master", update: "master", remove: "master" } as const;
    const mastered = defineResource({ ...options, access, bulk: true });
    const { as } = await openAsUsers(resourceRoutes(mastered, createResourceController(mastered)));
    const operations = [{ op: "create", body: { text: "a" } }];
    expect((await as("root", "POST", "/memos/bulk", { operations })).status).toBe(403);
    const { status, json: results } = await as("master", "POST", "/memos/bulk", { operations });
    expect(status).toBe(200);
    const { id } = results[0];
    const more = [
      { op: "update", id, body: { text: "b" } },
      { op: "remove", id },
    ];
    const done = await as("master", "POST", "/memos/bulk", { operations: more });
    expect(done.json).toMatchObject([{ status: 200 }, { status: 204 }]);
  });
});
