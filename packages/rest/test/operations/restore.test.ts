import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import type { Operation, ResourceRule } from "../../src/resource/access-rules.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openAsUsers } from "../as-users.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({ text: z.string() });

function defineNotes(access: Partial<Record<Operation, ResourceRule>> = {}) {
  return defineResource({
    name: "note",
    path: "/notes",
    schema,
    access: { list: "public", show: "public", create: "user", remove: "owner", ...access },
    owner: "writer",
    unique: ["text"],
    softDelete: true,
  });
}

async function openNotes(access?: Partial<Record<Operation, ResourceRule>>) {
  const note = defineNotes(access);
  const client = await openResource(note);
  const kept = (await client.as("ann", "POST", "/notes", { text: "kept" })).json;
  const gone = (await client.as("ann", "POST", "/notes", { text: "gone" })).json;
  expect((await client.as("ann", "DELETE", `/notes/${gone.id}`)).status).toBe(204);
  return { ...client, note, kept, gone };
}

describe("a removed document of a resource that keeps them", () => {
  it("is not there for anybody who does not ask for the trash", async () => {
    const { as, gone } = await openNotes();
    expect((await as("root", "GET", `/notes/${gone.id}`)).status).toBe(404);
    expect((await as("root", "DELETE", `/notes/${gone.id}`)).status).toBe(404);
    const list = await as("root", "GET", "/notes");
    expect([list.json.length, list.headers.get("x-total-count")]).toEqual([1, "1"]);
    expect(list.json[0]).not.toHaveProperty("deletedAt");
  });

  it.each([
    ["", 401],
    ["ann", 403],
    ["root", 200],
  ])("is listed to admins only: %s gets %i", async (user, status) => {
    const { as } = await openNotes();
    expect((await as(user, "GET", "/notes?trash=only")).status).toBe(status);
  });

  it("is listed alone or with the others", async () => {
    const { as, gone, kept } = await openNotes();
    const only = await as("root", "GET", "/notes?trash=only");
    expect(only.json).toEqual([
      { ...gone, updatedAt: expect.any(String), deletedAt: expect.any(String) },
    ]);
    expect(only.headers.get("x-total-count")).toBe("1");
    const all = await as("root", "GET", "/notes?trash=with&sort=createdAt&after=");
    expect(all.json.map(({ id }: { id: string }) => id)).toEqual([kept.id, gone.id]);
    expect((await as("root", "GET", "/notes?trash=all")).json).toMatchObject({ name: "enum" });
  });

  it("comes back when it refers to itself", async () => {
    const place: Resource = defineResource({
      name: "place",
      path: "/places",
      schema: z.object({ within: z.string().optional() }),
      access: { list: "public", create: "public", update: "public", remove: "public" },
      relations: { within: { to: () => place, onDelete: "nullify" } },
      softDelete: true,
    });
    const { as } = await openResource(place);
    const { id } = (await as("", "POST", "/places", {})).json;
    expect((await as("", "PATCH", `/places/${id}`, { within: id })).status).toBe(200);
    expect((await as("", "DELETE", `/places/${id}`)).status).toBe(204);
    const restored = await as("root", "POST", `/places/${id}/restore`);
    expect([restored.status, restored.json]).toMatchObject([200, { id }]);
  });

  it("frees its unique values, and comes back only while they are free", async () => {
    const { as, gone } = await openNotes();
    const other = (await as("bob", "POST", "/notes", { text: "gone" })).json;
    const path = `/notes/${gone.id}/restore`;
    expect((await as("root", "POST", path)).json).toMatchObject({ status: 409, param: "text" });
    await as("bob", "DELETE", `/notes/${other.id}`);
    const restored = await as("root", "POST", path);
    expect([restored.status, restored.headers.get("etag")]).toEqual([200, '"3"']);
    expect(restored.json).toMatchObject({ id: gone.id, text: "gone" });
    expect((await as("", "GET", `/notes/${gone.id}`)).status).toBe(200);
    expect((await as("root", "POST", path)).status).toBe(404);
  });

  it("is brought back by admins only, unless the resource says otherwise", async () => {
    const { as, gone, kept } = await openNotes();
    const path = `/notes/${gone.id}/restore`;
    expect((await as("", "POST", path)).status).toBe(401);
    expect((await as("ann", "POST", path)).status).toBe(403);
    expect((await as("root", "POST", `/notes/${kept.id}/restore`)).status).toBe(404);
  });

  it("is brought back with the master key where the rule says so", async () => {
    const { as, gone } = await openNotes({ restore: "master" });
    const path = `/notes/${gone.id}/restore`;
    expect((await as("root", "POST", path)).status).toBe(403);
    expect((await as("master", "POST", path)).status).toBe(200);
  });

  it("stays away when the rule says no as the change is made", async () => {
    const answers = [true, false];
    const { as, gone } = await openNotes({ restore: () => answers.shift() ?? false });
    expect((await as("bob", "POST", `/notes/${gone.id}/restore`)).status).toBe(403);
    expect((await as("", "GET", `/notes/${gone.id}`)).status).toBe(404);
    expect(answers).toEqual([]);
  });

  it("is brought back by its owner where the rule says so, on conditions", async () => {
    const { as, gone } = await openNotes({ restore: "owner" });
    const path = `/notes/${gone.id}/restore`;
    expect((await as("bob", "POST", path)).status).toBe(403);
    expect((await as("ann", "POST", path, undefined, { "if-match": '"1"' })).status).toBe(412);
    expect((await as("ann", "POST", path, undefined, { "if-match": '"2"' })).status).toBe(200);
  });
});

describe("softDelete", () => {
  it("adds no route and no parameter to resources without it", async () => {
    const plain = defineResource({
      name: "note",
      path: "/notes",
      schema,
      access: { list: "public" },
    });
    const { as } = await openResource(plain);
    expect((await as("root", "POST", "/notes/1/restore")).status).toBe(404);
    expect((await as("root", "GET", "/notes?trash=only")).json).toMatchObject({ name: "unknown" });
  });

  it("leaves a list of which up to 1,000 are counted", async () => {
    const { as, note, store } = await openNotes();
    const many = Array.from({ length: 1100 }, (_, index) => ({ text: `${index}`, writer: "ann" }));
    await store.collection(note.collection).insertMany(many);
    for (const query of ["", "?trash=with", "?after="]) {
      const { headers } = await as("root", "GET", `/notes${query}`);
      expect([headers.get("x-total-count"), headers.get("x-total-count-capped")]).toEqual([
        "1000",
        "true",
      ]);
    }
  });

  it("reserves the field of the time", () => {
    const taken = z.object({ deletedAt: z.string() });
    const options = { name: "note", path: "/notes", schema: taken, access: {} };
    expect(() => defineResource({ ...options, softDelete: true })).toThrow(RestError);
  });
});

describe("a removed document that refers to others", () => {
  it("comes back only while what it refers to is there", async () => {
    const open = { list: "public", show: "public", create: "public", remove: "public" } as const;
    const tag = defineResource({
      name: "tag",
      path: "/tags",
      schema: z.object({ label: z.string() }),
      access: open,
    });
    const leaf = defineResource({
      name: "leaf",
      path: "/leaves",
      schema: z.object({ tag: z.string() }),
      access: { ...open, restore: "public" },
      softDelete: true,
      relations: { tag: { to: () => tag } },
    });
    const { as } = await openAsUsers([
      ...resourceRoutes(leaf, createResourceController(leaf)),
      ...resourceRoutes(tag, createResourceController(tag)),
    ]);
    const label = (await as("", "POST", "/tags", { label: "a" })).json.id;
    const path = `/leaves/${(await as("", "POST", "/leaves", { tag: label })).json.id}`;
    await as("", "DELETE", path);
    expect((await as("", "POST", `${path}/restore`)).status).toBe(200);
    await as("", "DELETE", path);
    expect((await as("", "DELETE", `/tags/${label}`)).status).toBe(204);
    const refused = await as("", "POST", `${path}/restore`);
    expect(refused.json).toMatchObject({ status: 400, param: "tag", name: "reference" });
    expect((await as("", "GET", path)).status).toBe(404);
  });
});
