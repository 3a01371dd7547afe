import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { allows } from "../../src/plan/resource-access.ts";
import type { AccessFunction, ResourceRule } from "../../src/resource/access-rules.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({ text: z.string(), locked: z.boolean().optional() });

function defineNotes(rule: ResourceRule, owner?: string) {
  const access = { list: "admin", create: "user", show: rule, update: rule, remove: rule } as const;
  return defineResource({ name: "note", path: "/notes", schema, access, owner });
}

describe("a rule that is a function", () => {
  it.each(["GET", "PUT", "PATCH", "DELETE"])("keeps callers from %s", async (method) => {
    const note = defineNotes(({ user }) => user?.id === "ann");
    const { as, store } = await openResource(note);
    const { id } = await store.collection(note.collection).insert({ text: "a" });
    const body = method === "PUT" || method === "PATCH" ? { text: "b" } : undefined;
    const nobody = await as("", method, `/notes/${id}`, body);
    expect(nobody.status).toBe(401);
    expect(nobody.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect((await as("bob", method, `/notes/${id}`, body)).status).toBe(403);
    expect((await as("bob", method, "/notes/none", body)).status).toBe(403);
    expect((await as("ann", method, "/notes/none", body)).status).toBe(404);
    expect(await store.collection(note.collection).get(id)).toMatchObject({ text: "a" });
    const admitted = await as("ann", method, `/notes/${id}`, body);
    expect(admitted.status).toBeLessThan(300);
  });

  it("keeps its answers out of shared caches, no matter who asks", async () => {
    const note = defineNotes(() => true);
    const { as, store } = await openResource(note);
    const { id } = await store.collection(note.collection).insert({ text: "a" });
    const { headers } = await as("", "GET", `/notes/${id}`);
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("vary")).toBe("Authorization");
  });

  it("decides about lists and creations", async () => {
    const access: Record<string, AccessFunction> = {
      list: async ({ query }) => query.get("limit") === "1",
      create: ({ body }) => (body as { text: string }).text === "please",
    };
    const note = defineResource({ name: "note", path: "/notes", schema, access });
    const { as } = await openResource(note);
    expect((await as("ann", "GET", "/notes")).status).toBe(403);
    expect((await as("ann", "GET", "/notes?limit=1")).status).toBe(200);
    expect((await as("", "POST", "/notes", { text: "now" })).status).toBe(401);
    expect((await as("", "POST", "/notes", { text: "please" })).status).toBe(201);
  });

  it("is asked again about a document that changed between check and change", async () => {
    const note = defineNotes("admin");
    let meanwhile = async (): Promise<void> => undefined;
    const guarded = defineNotes(async ({ document }) => {
      const mayGo = document?.["locked"] !== true;
      await meanwhile();
      return mayGo;
    });
    const { as, store } = await openResource(guarded);
    const documents = store.collection(note.collection);
    const { id } = await documents.insert({ text: "a" });
    meanwhile = async () => {
      meanwhile = async () => undefined;
      await documents.update(id, { locked: true });
    };
    expect((await as("ann", "PUT", `/notes/${id}`, { text: "b" })).status).toBe(403);
    expect(await documents.get(id)).toMatchObject({ text: "a", locked: true });
  });

  it("is asked once where nobody comes between", async () => {
    const rule = vi.fn(() => true);
    const note = defineNotes(rule);
    const { as, store } = await openResource(note);
    const { id } = await store.collection(note.collection).insert({ text: "a" });
    await as("", "PUT", `/notes/${id}`, { text: "b" });
    expect(rule).toHaveBeenCalledOnce();
  });
});

describe("allows", () => {
  const ann = { id: "ann", role: "user", passwordHash: "", sessionVersion: 1 };
  const root = { ...ann, id: "root", role: "admin" };
  const meta = { id: "1", version: 1, createdAt: "", updatedAt: "" };

  it.each([
    ["public", undefined, true],
    ["user", undefined, false],
    ["user", ann, true],
    ["owner", undefined, false],
    ["owner", ann, true],
    ["owner", { ...ann, id: "bob" }, false],
    ["owner", root, true],
    ["admin", ann, false],
    ["admin", root, true],
    ["master", root, false],
  ] as const)("answers under the rule %s for %j with %s", async (rule, user, expected) => {
    const note = defineNotes(rule, "writer");
    const document = { ...meta, writer: "ann" };
    let answer: unknown;
    const probe = defineNotes(async (call) => {
      answer = await allows(note, "show", { call: { ...call, user }, document });
      return true;
    });
    const { as } = await openResource(probe);
    await as("", "GET", "/notes/1");
    expect(answer).toBe(expected);
  });
});
