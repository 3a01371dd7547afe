import type { Stored } from "@fetchwork/documents";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Fields } from "../../src/fields.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { ResourceHooks } from "../../src/resource/hooks.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { openAsUsers } from "../as-users.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({ text: z.string(), stars: z.int().optional() });
type Note = z.infer<typeof schema>;

function defineNotes(hooks: ResourceHooks<Note>, softDelete = false) {
  return defineResource({
    name: "note",
    path: "/notes",
    schema,
    access: {
      list: "public",
      show: "public",
      create: "public",
      update: "public",
      remove: "public",
      restore: "public",
    },
    filter: ["stars"],
    softDelete,
    hooks,
  });
}

/** The resource of what hooks write in addition. */
const log = { name: "log", unique: [], indexes: [], search: [] };

const refuse = (): never => {
  throw new Problem(422, { detail: "the hook said no" });
};

describe("hooks before an operation", () => {
  it.each<[keyof ResourceHooks, string, string]>([
    ["beforeCreate", "POST", "/notes"],
    ["beforeUpdate", "PUT", "/notes/:id"],
    ["beforeUpdate", "PATCH", "/notes/:id"],
    ["beforeRemove", "DELETE", "/notes/:id"],
    ["beforeShow", "GET", "/notes/:id"],
    ["beforeList", "GET", "/notes"],
    ["afterShow", "GET", "/notes/:id"],
    ["afterList", "GET", "/notes"],
  ])("refuse by throwing, and nothing changes: %s of %s %s", async (hook, method, path) => {
    const note = defineNotes({ [hook]: refuse });
    const { as, store } = await openResource(note);
    const { id } = await store.collection(note.collection).insert({ text: "a" });
    const body = method === "GET" || method === "DELETE" ? undefined : { text: "b" };
    const refused = await as("", method, path.replace(":id", id), body);
    expect(refused.json).toMatchObject({ status: 422, detail: "the hook said no" });
    expect(await store.collection(note.collection).find()).toMatchObject([{ id, text: "a" }]);
  });

  it("undo what they wrote with the transaction when the change fails", async () => {
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema,
      access: { create: "public" },
      unique: ["text"],
      hooks: {
        async beforeCreate({ fields, transaction }) {
          await transaction.collection<Fields>(log).insert({ text: fields.text });
        },
      },
    });
    const { as, store } = await openResource(note);
    expect((await as("", "POST", "/notes", { text: "a" })).status).toBe(201);
    expect((await as("", "POST", "/notes", { text: "a" })).status).toBe(409);
    expect(await store.collection(log).count()).toBe(1);
  });

  it("change the fields that are stored, also next to the schema", async () => {
    const note = defineNotes({
      beforeCreate: ({ fields }) => ({ ...fields, text: fields.text.toUpperCase(), slug: "a" }),
      beforeUpdate: ({ current, fields }) => ({ ...fields, stars: (current.stars ?? 0) + 1 }),
    });
    const { as, store } = await openResource(note);
    const { json } = await as("", "POST", "/notes", { text: "a", slug: "sent" });
    expect(json).toMatchObject({ text: "A" });
    expect(json).not.toHaveProperty("slug");
    const updated = await as("", "PUT", `/notes/${json.id}`, { text: "b", stars: 9 });
    expect(updated.json).toMatchObject({ text: "b", stars: 1 });
    expect(await store.collection(note.collection).get(json.id)).toMatchObject({ slug: "a" });
  });

  it("are told the caller, after the access rule and the validation", async () => {
    const beforeCreate = vi.fn();
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema,
      access: { create: "user" },
      hooks: { beforeCreate },
    });
    const { as } = await openResource(note);
    expect((await as("", "POST", "/notes", { text: "a" })).status).toBe(401);
    expect((await as("ann", "POST", "/notes", {})).status).toBe(400);
    expect(beforeCreate).not.toHaveBeenCalled();
    await as("ann", "POST", "/notes", { text: "a" });
    expect(beforeCreate.mock.calls[0]?.[0].call.user).toMatchObject({ id: "ann" });
  });

  it("of a list with a filter that is wrong are the fault of the program, not of the caller", async () => {
    const note = defineNotes({ beforeList: () => ({ text: { startsWith: "a" } }) });
    const reports: unknown[] = [];
    const { as } = await openAsUsers(resourceRoutes(note, createResourceController(note)), {
      reportError: (error) => reports.push(error),
    });
    const failed = await as("", "GET", "/notes");
    expect([failed.status, failed.json.param]).toEqual([500, undefined]);
    expect(JSON.stringify(failed.json)).not.toContain("startsWith");
    expect(reports).toHaveLength(1);
  });

  it("of a list narrow what it finds and counts", async () => {
    const note = defineNotes({ beforeList: () => ({ stars: { gte: 2 } }) });
    const { as } = await openResource(note);
    for (const stars of [1, 2, 3]) await as("", "POST", "/notes", { text: "a", stars });
    const all = await as("", "GET", "/notes");
    expect([all.json.length, all.headers.get("x-total-count")]).toEqual([2, "2"]);
    expect((await as("", "GET", "/notes?stars=1")).json).toEqual([]);
  });

  it("lose no update to another one in the meantime", async () => {
    const note = defineNotes({
      beforeUpdate: ({ current, fields }) => ({ ...fields, stars: (current.stars ?? 0) + 1 }),
    });
    const { as, store } = await openResource(note);
    const { id } = await store.collection(note.collection).insert({ text: "a" });
    await Promise.all(
      Array.from({ length: 20 }, () => as("", "PUT", `/notes/${id}`, { text: "b" })),
    );
    expect(await store.collection(note.collection).get(id)).toMatchObject({ stars: 20 });
  });
});

describe("hooks after an operation", () => {
  it("see what is committed, in the order of the operations", async () => {
    const seen: unknown[] = [];
    const note: ReturnType<typeof defineNotes> = defineNotes(
      {
        async afterCreate({ call, document }) {
          const stored = await call.store.collection(note.collection).get(document.id);
          seen.push(["created", stored?.["text"]]);
        },
        afterUpdate: ({ before, document }) => void seen.push([before.text, document.text]),
        afterRemove: ({ document }) => void seen.push(["removed", document.text]),
        afterRestore: ({ document }) => void seen.push(["restored", document.text]),
      },
      true,
    );
    const { as } = await openResource(note);
    const path = `/notes/${(await as("", "POST", "/notes", { text: "a" })).json.id}`;
    await as("", "PATCH", path, { text: "b" });
    await as("", "DELETE", path);
    await as("", "POST", `${path}/restore`);
    expect(seen).toEqual([
      ["created", "a"],
      ["a", "b"],
      ["removed", "b"],
      ["restored", "b"],
    ]);
  });

  it("do not undo a change by throwing: the answer stays, and the error is reported", async () => {
    const reportError = vi.fn();
    const note = defineNotes({ afterCreate: refuse });
    const { as, store } = await openResource(note, { reportError });
    expect((await as("", "POST", "/notes", { text: "a" })).status).toBe(201);
    expect(reportError).toHaveBeenCalledOnce();
    expect(await store.collection(note.collection).count()).toBe(1);
  });

  it("are not called for a change that did not happen", async () => {
    const afterUpdate = vi.fn();
    const { as, store } = await openResource(defineNotes({ afterUpdate }));
    const { id } = await store.collection(defineNotes({}).collection).insert({ text: "a" });
    await as("", "PUT", `/notes/${id}`, { text: 1 });
    await as("", "PUT", "/notes/none", { text: "b" });
    await as("", "PUT", `/notes/${id}`, { text: "b" }, { "if-match": '"9"' });
    expect(afterUpdate).not.toHaveBeenCalled();
  });

  it("change what is shown", async () => {
    const shout = ({ text }: Stored<Note>) => ({ text: `${text}!` });
    const note = defineNotes({
      afterShow: ({ document, shown }) => ({ ...shown, ...shout(document) }),
      afterList: ({ documents }) => documents.map(shout),
    });
    const { as } = await openResource(note);
    const { json } = await as("", "POST", "/notes", { text: "a" });
    const shown = await as("", "GET", `/notes/${json.id}`);
    expect(shown.json).toMatchObject({ id: json.id, text: "a!" });
    expect((await as("", "GET", "/notes")).json).toEqual([{ text: "a!" }]);
    const etag = shown.headers.get("etag") ?? "";
    const again = await as("", "GET", `/notes/${json.id}`, undefined, { "if-none-match": etag });
    expect(again.status).toBe(200); // What is shown may follow from more than the version.
  });
});
