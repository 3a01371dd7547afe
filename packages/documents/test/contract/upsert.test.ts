import { describe, expect, it } from "vitest";
import { defineCollection, UniqueError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Member {
  email: string;
  name?: string;
  team?: string | null;
  number?: number;
  visits?: number;
}

const members = defineCollection<Member>("members", {
  unique: ["email", ["team", "number"]],
  search: ["name"],
});

describe.each(engines)("An upsert in %s", (_name, open) => {
  it.each([
    ["neither an id nor fields", {}],
    ["both", { id: "a", by: "email" }],
    ["a field that is not unique", { by: "name" }],
    ["a part of a unique index", { by: ["team"] }],
    ["fields that are missing", { by: ["team", "number"] }],
  ])("is refused with %s", async (_text, options) => {
    const collection = (await open()).collection(members);
    const result: unknown = Reflect.apply(collection.upsert, collection, [
      { email: "a", team: null },
      options,
    ]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    expect(await collection.count()).toBe(0);
  });

  it("is refused with an id that is impossible", async () => {
    const collection = (await open()).collection(members);
    await expect(collection.upsert({ email: "a" }, { id: "a b" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_ID",
    });
  });

  it("is refused when another unique field is taken", async () => {
    const collection = (await open()).collection(members);
    await collection.insert({ email: "a" });
    const other = await collection.insert({ email: "b" });
    await expect(collection.upsert({ email: "a" }, { id: other.id })).rejects.toThrow(UniqueError);
    await expect(collection.upsert({ email: "a" }, { id: "new" })).rejects.toThrow(UniqueError);
    expect(await collection.count()).toBe(2);
  });

  it("adds a document once, and replaces it from then on", async () => {
    const collection = (await open()).collection(members);
    const first = await collection.upsert({ email: "a", name: "Ann" }, { id: "x" });
    expect(first).toMatchObject({ id: "x", version: 1, name: "Ann" });
    const second = await collection.upsert({ email: "b" }, { id: "x" });
    expect(second).toEqual({
      ...first,
      email: "b",
      name: undefined,
      version: 2,
      updatedAt: second.updatedAt,
    });
    expect(await collection.count()).toBe(1);
    expect(await collection.count({ q: "ann" })).toBe(0);
  });

  it("finds the document by one unique field, or by several in any order", async () => {
    const collection = (await open()).collection(members);
    const stored = await collection.insert({ email: "a", team: "red", number: 5 });
    const byEmail = await collection.upsert(
      { email: "a", team: "red", number: 6 },
      { by: "email" },
    );
    expect(byEmail).toMatchObject({ id: stored.id, version: 2, number: 6 });
    const byTeam = await collection.upsert(
      { email: "z", team: "red", number: 6 },
      { by: ["number", "team"] },
    );
    expect(byTeam).toMatchObject({ id: stored.id, version: 3, email: "z" });
  });

  it("changes the stored document by a function", async () => {
    const collection = (await open()).collection(members);
    const visit = (): Promise<unknown> =>
      collection.upsert(
        { email: "a", visits: 1 },
        { by: "email", change: (stored) => ({ ...stored, visits: (stored.visits ?? 0) + 1 }) },
      );
    await Promise.all(Array.from({ length: 20 }, visit));
    expect(await collection.find()).toMatchObject([{ email: "a", visits: 20, version: 20 }]);
  });

  it("is a part of its transaction", async () => {
    const store = await open();
    await expect(
      store.transaction(async (tx) => {
        await tx.collection(members).upsert({ email: "a" }, { by: "email" });
        await tx.collection(members).upsert({ email: "a", name: "b" }, { by: "email" });
        expect(await tx.collection(members).find()).toMatchObject([{ name: "b", version: 2 }]);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await store.collection(members).count()).toBe(0);
  });
});
