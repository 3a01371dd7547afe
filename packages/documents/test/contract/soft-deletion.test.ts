import { describe, expect, it } from "vitest";
import { defineCollection, UniqueError } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Member {
  email: string;
  name?: string;
}

const options = { unique: ["email"], indexes: ["name"], search: ["name"] } as const;
const members = defineCollection<Member>("members", { ...options, softDelete: true });
const hard = defineCollection<Member>("hard", options);

describe.each(engines)("Soft deletion in %s", (_name, open) => {
  it("hides a removed document from everything that does not ask for it", async () => {
    const collection = (await open()).collection(members);
    const { id } = await collection.insert({ email: "a", name: "Anna" });
    await collection.insert({ email: "b", name: "Anna" });
    expect(await collection.remove(id)).toBe(true);
    expect(await collection.get(id)).toBeUndefined();
    expect(await collection.getMany([id])).toEqual([undefined]);
    expect(await collection.find({ where: { name: "Anna" } })).toMatchObject([{ email: "b" }]);
    expect(await collection.find({ q: "anna" })).toMatchObject([{ email: "b" }]);
    expect((await collection.page()).items).toMatchObject([{ email: "b" }]);
    expect(await collection.count()).toBe(1);
    expect(await collection.count({ where: {} })).toBe(1);
    expect(await collection.update(id, { name: "x" })).toBeUndefined();
    expect(await collection.replace(id, { email: "x" })).toBeUndefined();
    expect(await collection.remove(id)).toBe(false);
    expect(await collection.removeMany({ where: { email: "a" } })).toBe(0);
    expect(await collection.claim({ where: { email: "a" } })).toEqual([]);
  });

  it("shows it, with its time, to who asks", async () => {
    const collection = (await open()).collection(members);
    const { id } = await collection.insert({ email: "a", name: "Anna" });
    await collection.insert({ email: "b" });
    await collection.remove(id);
    const [removed] = await collection.find({ deleted: "only", q: "anna" });
    expect(removed).toMatchObject({ id, version: 2, deletedAt: removed?.updatedAt });
    expect(await collection.count({ deleted: "only" })).toBe(1);
    const both = await collection.find({ deleted: "include", sort: ["email"] });
    expect(both.map((one) => "deletedAt" in one)).toEqual([true, false]);
    await expect(
      Reflect.apply(collection.find, collection, [{ deleted: true }]),
    ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("frees the unique fields at once, and never the id", async () => {
    const collection = (await open()).collection(members);
    const { id } = await collection.insert({ email: "a" });
    await collection.remove(id);
    await expect(collection.insert({ email: "c" }, { id })).rejects.toMatchObject({
      fields: ["id"],
    });
    await collection.insert({ email: "a" });
    await expect(collection.insert({ email: "a" })).rejects.toMatchObject({ fields: ["email"] });
    await expect(collection.restore(id)).rejects.toThrow(UniqueError);
    expect(await collection.count({ deleted: "only" })).toBe(1);
  });

  it("brings a document back with the next version", async () => {
    const collection = (await open()).collection(members);
    const { id, createdAt } = await collection.insert({ email: "a", name: "Anna" });
    expect(await collection.restore(id)).toBeUndefined();
    await collection.remove(id);
    const restored = await collection.restore(id);
    expect(restored).toMatchObject({ id, version: 3, createdAt, email: "a", name: "Anna" });
    expect(restored).not.toHaveProperty("deletedAt");
    expect(await collection.get(id)).toEqual(restored);
    expect(await collection.count({ q: "anna" })).toBe(1);
    expect(await collection.count()).toBe(1);
  });

  it("checks the version of what is removed", async () => {
    const collection = (await open()).collection(members);
    const { id } = await collection.insert({ email: "a" });
    await expect(collection.remove(id, { ifVersion: 2 })).rejects.toMatchObject({ current: 1 });
    expect(await collection.remove(id, { ifVersion: 1 })).toBe(true);
  });

  it("removes for good only what was removed before", async () => {
    const collection = (await open()).collection(members);
    const stored = await collection.insertMany(["a", "b", "c", "d"].map((email) => ({ email })));
    const ids = stored.map(({ id }) => id);
    expect(await collection.purge(ids[0] ?? "")).toBe(false);
    expect(await collection.removeMany({ where: { email: { lte: "c" } } })).toBe(3);
    expect(await collection.count()).toBe(1);
    expect(await collection.purge(ids[0] ?? "")).toBe(true);
    expect(await collection.purgeMany({ deletedBefore: "2020-01-01T00:00:00.000Z" })).toBe(0);
    expect(await collection.purgeMany({ where: { email: "b" } })).toBe(1);
    expect(await collection.purgeMany()).toBe(1);
    expect(await collection.find({ deleted: "include" })).toMatchObject([{ email: "d" }]);
    await collection.insert({ email: "a" }, { id: ids[0] });
    await expect(collection.purgeMany({ deletedBefore: "yesterday" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });

  it("lets an upsert by id bring back a removed document with the given content", async () => {
    const collection = (await open()).collection(members);
    const { id } = await collection.insert({ email: "a", name: "old" });
    await collection.remove(id);
    expect(await collection.upsert({ email: "b" }, { id })).toMatchObject({
      email: "b",
      version: 3,
    });
    expect(await collection.get(id)).not.toHaveProperty("name");
    expect(await collection.count()).toBe(1);
  });

  it("reserves the field deletedAt, in these collections only", async () => {
    const store = await open();
    const other = store.collection(defineCollection<{ deletedAt: string }>("others"));
    await other.insert({ deletedAt: "x" });
    const collection = store.collection(members);
    const document: unknown = { email: "a", deletedAt: "x" };
    await expect(Reflect.apply(collection.insert, collection, [document])).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_NAME",
      path: "deletedAt",
    });
  });

  it("is refused where the definition does not ask for it", async () => {
    const collection = (await open()).collection(hard);
    const { id } = await collection.insert({ email: "a" });
    const refusal = { code: "ERR_DOCUMENTS_DEFINITION" };
    await expect(collection.restore(id)).rejects.toMatchObject(refusal);
    await expect(collection.purge(id)).rejects.toMatchObject(refusal);
    await expect(collection.purgeMany()).rejects.toMatchObject(refusal);
    expect(await collection.find({ deleted: "only" })).toEqual([]);
    expect(await collection.find({ deleted: "include" })).toHaveLength(1);
  });
});
