import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Fields } from "../../src/fields.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openResource } from "../resource-client.ts";

const note = defineResource({
  name: "note",
  path: "/notes",
  schema: z.object({
    text: z.string(),
    color: z.enum(["red", "blue"]),
    size: z.object({ width: z.int(), height: z.int() }).optional(),
    code: z.string().optional(),
    rank: z.int().optional(),
  }),
  access: {
    list: "public",
    show: "public",
    create: "public",
    update: "public",
    remove: "public",
  },
  fields: { rank: { write: "nobody" }, code: { read: "nobody" } },
});

/** An API with a document that an older model stored. */
async function openOld(fields: Fields) {
  const reported: unknown[] = [];
  const api = await openResource(note, { reportError: (error) => reported.push(error) });
  const { collection }: Resource = note;
  const { id } = await api.store.collection(collection).insert(fields);
  return { ...api, id, path: `/notes/${id}`, reported };
}

describe("a document that no longer fits its model", () => {
  it.each(["PUT", "PATCH"])("is refused by %s with 409, the field and a report", async (method) => {
    const { as, id, path, reported } = await openOld({ text: "old" });
    const refused = await as("", method, path, { text: "new" });
    const detail = `the stored note ${id} no longer fits its model: color is required`;
    const error = { valid: false, param: "color", name: "required", message: "color is required" };
    expect(refused.status).toBe(409);
    expect(refused.json).toMatchObject({ status: 409, detail, ...error, errors: [error] });
    expect(reported).toMatchObject([{ message: detail }]);
    expect((await as("", "GET", path)).json.text).toBe("old");
  });

  it("is shown, listed and removed", async () => {
    const { as, path } = await openOld({ text: "old", color: "green" });
    expect((await as("", "GET", path)).json).toMatchObject({ text: "old", color: "green" });
    expect((await as("", "GET", "/notes")).json).toMatchObject([{ text: "old" }]);
    expect((await as("", "DELETE", path)).status).toBe(204);
  });

  it("is changed by a request that sends what it lacks", async () => {
    const { as, path, reported } = await openOld({ text: "old" });
    expect((await as("", "PATCH", path, { color: "red" })).json).toMatchObject({ color: "red" });
    expect((await as("", "PATCH", path, { text: "new" })).status).toBe(200);
    expect(reported).toEqual([]);
  });

  it.each<[Fields, object, string[]]>([
    [{ text: "old" }, { color: "green" }, ["color"]],
    [{ text: "old" }, { text: 1 }, ["text"]],
    [{ text: "old", color: "red", size: { width: 1 } }, { size: { width: "1" } }, ["size.width"]],
    [{ text: "old", color: "red" }, { color: null }, ["color"]],
  ])("of %j answers the mistakes of a PATCH with %j with 400", async (fields, body, params) => {
    const { as, path, reported } = await openOld(fields);
    const refused = await as("", "PATCH", path, body);
    const errors: { param: string }[] = refused.json.errors;
    expect([refused.status, errors.map(({ param }) => param)]).toEqual([400, params]);
    expect(reported).toEqual([]);
  });

  it.each<[Fields, object, string]>([
    [{ text: "old", color: "green" }, { text: "new" }, "color"],
    [{ text: "old", color: "red", size: { width: 1 } }, { size: { width: 2 } }, "size.height"],
    [{ text: "old", color: "red", code: 1 }, { text: "new" }, "code"],
    [{ text: "old", color: "red", rank: "1" }, { text: "new", rank: 2 }, "rank"],
  ])("of %j is named in the response to a PATCH with %j", async (fields, body, param) => {
    const { as, path, reported } = await openOld(fields);
    const refused = await as("", "PATCH", path, body);
    expect([refused.status, refused.json.param]).toEqual([409, param]);
    expect(reported).toHaveLength(1);
  });

  it("is refused without the values and the inner names of a field that the caller does not see", async () => {
    const small = z.record(
      z.string(),
      z.number().check(({ issues, value }) => {
        const message = `${value} is too much`;
        if (value > 9) issues.push({ code: "custom", message, input: value });
      }),
    );
    const staff = defineResource({
      name: "staff",
      path: "/staff",
      schema: z.object({ text: z.string(), bonus: small.optional() }),
      access: { update: "public" },
      fields: { bonus: "admin" },
    });
    const { as, store } = await openResource(staff, { reportError: () => undefined });
    const { collection }: Resource = staff;
    await store.collection(collection).insert({ text: "t", bonus: { may: 77 } }, { id: "a" });
    const { json, status } = await as("", "PATCH", "/staff/a", { text: "new" });
    expect([status, json.param]).toEqual([409, "bonus"]);
    expect(JSON.stringify(json)).not.toMatch(/may|77/);
  });

  it("is refused without the names inside of a field that nobody sees", async () => {
    const safe = defineResource({
      name: "safe",
      path: "/safes",
      schema: z.object({ text: z.string(), answers: z.record(z.string(), z.int()).optional() }),
      access: { update: "public" },
      fields: { answers: { read: "nobody" } },
    });
    const { as, store } = await openResource(safe, { reportError: () => undefined });
    const { collection }: Resource = safe;
    await store.collection(collection).insert({ text: "t", answers: { maiden: "1" } }, { id: "a" });
    const { json, status } = await as("", "PATCH", "/safes/a", { text: "new" });
    expect([status, json.param]).toEqual([409, "answers"]);
    expect(JSON.stringify(json)).not.toContain("maiden");
    const own = await as("", "PATCH", "/safes/a", { answers: { sent: "1", maiden: null } });
    expect([own.status, own.json.param]).toEqual([400, "answers.sent"]);
  });
});
