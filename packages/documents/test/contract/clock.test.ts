import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { administer, defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();
const notes = defineCollection<{ text: string }>("notes", { softDelete: true, search: ["text"] });
const noon = Date.parse("2030-01-01T12:00:00.000Z");
const hour = 3_600_000;

describe.each(engines)("A clock that goes back on %s", (_engine, _open, openNew) => {
  beforeEach(() => {
    vi.useFakeTimers({ now: noon, toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("changes neither the order of creation nor the order of the times of a document", async () => {
    const collection = (await openNew()).collection(notes);
    const first = await collection.insert({ text: "first" });
    vi.setSystemTime(noon - hour);
    const second = await collection.insert({ text: "second" });
    expect(second.createdAt >= first.createdAt).toBe(true);
    expect((await collection.find()).map(({ text }) => text)).toEqual(["second", "first"]);
    const changed = await collection.update(first.id, { text: "changed" });
    expect(String(changed?.updatedAt) >= first.createdAt).toBe(true);
  });

  it("of another process leaves updatedAt where it was", async () => {
    const store = await openNew();
    const later = "2031-01-01T00:00:00.000Z";
    const record = { id: "x", version: 1, createdAt: later, updatedAt: later };
    await administer(store).load((loading) =>
      loading.add(notes, [{ ...record, document: { text: "from a process ahead" } }]),
    );
    const collection = store.collection(notes);
    expect(await collection.update("x", { text: "a" })).toMatchObject({ updatedAt: later });
    expect(await collection.update("x", (stored) => stored)).toMatchObject({ updatedAt: later });
    await collection.remove("x");
    const [removed] = await collection.find({ deleted: "only" });
    expect(removed).toMatchObject({ updatedAt: later });
  });
});

describe.each(engines)("The probe of a store on %s", (_engine, open) => {
  it("leaves nothing behind, and may be repeated at once", async () => {
    const store = await open({ collections: [notes] });
    await Promise.all([administer(store).probe(), administer(store).probe()]);
    await expect(store.lock("fetchwork:probe", () => "free", { wait: 0 })).resolves.toBe("free");
  });
});

describe.each(engines)("A search on %s", (_engine, open) => {
  it("takes the noncharacter U+FFFF for no other character", async () => {
    const collection = (await open()).collection(notes);
    await collection.insertMany([{ text: "a\uffffb" }, { text: "\uffff" }, { text: "x\ufffdy" }]);
    expect(await collection.count({ q: "\ufffd" })).toBe(1);
    expect(await collection.count({ q: "x\ufffdy" })).toBe(1);
  });

  it("takes 500 conditions, whatever their operators are", async () => {
    const collection = (await open()).collection(notes);
    const where = (count: number): object => ({
      or: Array.from({ length: count }, (_, index) => ({ text: { ne: String(index) } })),
    });
    expect(await collection.count({ where: where(500) })).toBe(0);
    await expect(collection.count({ where: where(501) })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_QUERY",
    });
  });
});
