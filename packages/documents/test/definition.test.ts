import { describe, expect, it } from "vitest";
import { defineCollection } from "../src/index.ts";
import { openInMemory } from "./open-for-test.ts";

type Document = Record<string, unknown>;

describe("defineCollection", () => {
  it.each([
    "",
    "1a",
    "a b",
    "a.b",
    'a"',
    "a:b",
    "sqlite_master",
    "SQLite",
    "pg_user",
    "PG_x",
    "é",
    "a".repeat(49),
    "a;--",
  ])("refuses the name %j", (name) => {
    expect(() => defineCollection(name)).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_DEFINITION", name: "DocumentsTypeError" }),
    );
  });

  it.each([
    { unique: [""] },
    { unique: [[]] },
    { indexes: ["a..b"] },
    { indexes: [["a", "a"]] },
    { indexes: [["a", "-createdAt"]] },
    { search: ["$a"] },
    { search: "name" },
    { unique: [1] },
    { softDelete: 1 },
    { changes: true },
    { keepTotal: 1 },
    { keepTotal: true, expires: { field: "at" } },
    { expires: { field: "" } },
    { expires: { field: "at", after: -1 } },
    { expires: { field: "at", after: 0.5 } },
  ])("refuses the options %j", (options) => {
    expect(() => Reflect.apply(defineCollection, undefined, ["a", options])).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_DEFINITION" }),
    );
  });

  it("copies what it is given", () => {
    const search: string[] = ["a"];
    const definition = defineCollection<Document>("a", { search });
    search.push("b");
    expect(definition.search).toEqual(["a"]);
  });
});

describe("A store", () => {
  it("refuses two definitions of one name, and takes two that are alike", async () => {
    const store = await openInMemory();
    const first = store.collection(defineCollection<Document>("a", { search: ["x"] }));
    expect(store.collection(defineCollection<Document>("a", { search: ["x"] }))).toBe(first);
    expect(() => store.collection(defineCollection<Document>("a"))).toThrow(
      expect.objectContaining({ code: "ERR_DOCUMENTS_DEFINITION" }),
    );
  });

  it.each(["posts", undefined, null, { name: "posts" }])(
    "refuses %j in the place of a definition",
    async (given) => {
      const store = await openInMemory();
      const collection: unknown = Reflect.get(store, "collection");
      if (typeof collection !== "function") throw new Error("no method");
      expect(() => Reflect.apply(collection, store, [given])).toThrow(
        expect.objectContaining({
          code: "ERR_DOCUMENTS_DEFINITION",
          message: expect.stringContaining("defineCollection"),
        }),
      );
    },
  );

  it("refuses two names that differ only in case", async () => {
    const store = await openInMemory();
    await store.collection(defineCollection<Document>("posts")).insert({});
    await expect(
      store.collection(defineCollection<Document>("Posts")).insert({}),
    ).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPEN",
    });
  });

  it("keeps the tables of search indexes apart from other collections", async () => {
    const store = await openInMemory();
    for (const name of ["a", "a_search", "a_content", "a_data", "select", "order", "doc"]) {
      const collection = store.collection(
        defineCollection<Document>(name, { search: ["x"], indexes: ["x"] }),
      );
      await collection.insert({ x: name });
      expect(await collection.find({ q: name, sort: ["x"] })).toMatchObject([{ x: name }]);
    }
  });
});
