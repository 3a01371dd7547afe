import { describe, expect, it } from "vitest";
import { administer, type Collection, defineCollection, openStore } from "../../src/index.ts";
import { enginesOfFile, openInMemory } from "../open-for-test.ts";

const engines = enginesOfFile();

type Document = Record<string, unknown>;

const things = defineCollection<Document>("things", { unique: ["name"], softDelete: true });

const calls: readonly (readonly [name: keyof Collection<Document>, args: readonly unknown[]])[] = [
  ["insert", [{ name: "b" }, { Id: "b" }]],
  ["getMany", ["a"]],
  ["insertMany", [{ name: "b" }]],
  ["find", [{ unknown: 1 }]],
  ["find", [{ filter: { name: "a" } }]],
  ["find", ["a"]],
  ["find", [null]],
  ["page", [{ total: "exact", cursor: "a" }]],
  ["page", [{ offset: 1 }]],
  ["count", [{ where: {}, limit: 1 }]],
  ["update", ["a", { name: "b" }, { ifVersoin: 9 }]],
  ["replace", ["a", { name: "b" }, { version: 9 }]],
  ["remove", ["a", { ifversion: 9 }]],
  ["removeMany", [{ where: {}, limit: 1 }]],
  ["purgeMany", [{ before: "2026-01-01T00:00:00.000Z" }]],
  ["upsert", [{ name: "a" }, { by: "name", update: String }]],
  ["claim", [{ where: {}, near: {} }]],
];

describe.each(engines)("An option of %s that there is not", (_engine, open) => {
  it("is refused by name, and nothing is done", async () => {
    const collection = (await open()).collection(things);
    const stored = await collection.insert({ name: "a" }, { id: "a" });
    for (const [name, args] of calls) {
      const call: unknown = Reflect.apply(Object(collection[name]), collection, args);
      await expect(call).rejects.toMatchObject({ name: "InputError", code: "ERR_DOCUMENTS_QUERY" });
    }
    await expect(Reflect.apply(collection.find, collection, [{ unknown: 1 }])).rejects.toThrow(
      'find has no option "unknown"; it has where, q',
    );
    await expect(
      Reflect.apply(collection.update, collection, ["a", { name: "b" }, { ifVersoin: 9 }]),
    ).rejects.toThrow('a change has no option "ifVersoin", did you mean "ifVersion"?');
    expect(await collection.find({ deleted: "include" })).toEqual([stored]);
  });
});

describe("An option of a store that there is not", () => {
  it.each([
    ["transaction", [String, { timout: 1 }]],
    ["consume", ["a", String, { atEnd: "end", after: "1" }]],
    ["lock", ["a", String, { timeout: 1 }]],
    ["trimChanges", [{ before: "2026-01-01T00:00:00.000Z", collections: ["things"] }]],
  ] as const)("is refused by %s", async (name, args) => {
    const store = await openInMemory();
    await expect(Reflect.apply(store[name], store, args)).rejects.toMatchObject({
      name: "DocumentsTypeError",
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it("is refused by a plan", async () => {
    const administration = administer(await openInMemory());
    const wanted = { collection: [things] };
    await expect(Reflect.apply(administration.plan, administration, [wanted])).rejects.toThrow(
      'plan has no option "collection", did you mean "collections"?',
    );
  });

  it("is refused by the feed of changes", async () => {
    const store = await openInMemory();
    expect(() => Reflect.apply(store.changes, store, [{ batch: 1 }])).toThrow(
      'changes has no option "batch"',
    );
  });

  it.each([
    ["sqlite::memory:", { collection: [things] }],
    ["postgres://127.0.0.1:1/a", { postgres: { pool: 1 } }],
  ])("is refused when %s is opened", async (url, options) => {
    await expect(Reflect.apply(openStore, undefined, [url, options])).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it.each([{ uniqe: ["name"] }, { expires: { field: "at", afterMs: 1 } }])(
    "is refused in the definition %j",
    (options) => {
      expect(() => Reflect.apply(defineCollection, undefined, ["things", options])).toThrow(
        expect.objectContaining({ code: "ERR_DOCUMENTS_DEFINITION" }),
      );
    },
  );
});
