import { join } from "node:path";
import { administer, defineCollection, openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { allDefinitions, allEngines, newFolder, runDb } from "./db-world.ts";
import { newDatabase } from "../../../documents/test/open-for-test.ts";
import { noPostgres } from "../../../documents/test/postgres-server.ts";
import { items, migrations, others } from "./shop-definitions.ts";

async function fill(count: number): Promise<string> {
  const url = `sqlite:${join(newFolder(), "from.db")}`;
  await using store = await openStore(url, { collections: [items, ...others], migrations });
  const names = Array.from({ length: count }, (_entry, index) => ({ z: 1, name: `item ${index}` }));
  const [first] = await store.collection(items).insertMany(names);
  await store.collection(items).remove(first?.id ?? "");
  return url;
}

describe.each(allEngines)("fetchwork db copy to %s", (_engine, newUrl) => {
  it("copies and verifies every document with versions, removals and migrations", async () => {
    const from = await fill(1100);
    const to = await newUrl();
    const [code, stdout, stderr] = await runDb(["copy", from, to, "-d", allDefinitions]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^collection items: 1100 documents, SHA-256 [0-9a-f]{64}\n/);
    expect((await runDb(["status", "-u", to, "-d", allDefinitions]))[0]).toBe(0);
    await using store = await openStore(to, { collections: [items] });
    expect(await store.collection(items).count()).toBe(1099);
    expect(await store.collection(items).find({ q: "item 77", limit: 1 })).toHaveLength(1);
    expect(await store.collection(items).find({ deleted: "only" })).toMatchObject([{ version: 2 }]);
    expect((await administer(store).status()).migrations).toMatchObject([{ id: 1 }]);
  }, 60_000);

  it("rejects a target with other documents without changing them", async () => {
    const from = await fill(10);
    const to = await newUrl();
    const store = await openStore(to);
    await store.collection(items).insert({ name: "another" }, { id: "another" });
    await store.close();
    const [code, , stderr] = await runDb(["copy", from, to]);
    expect([code, stderr]).toMatchObject([
      1,
      expect.stringContaining('the target has a document in "items"'),
    ]);
    await using after = await openStore(to);
    expect(await after.collection(items).find()).toMatchObject([{ id: "another", version: 1 }]);
  }, 60_000);

  it("writes nothing into a store with other documents in any collection", async () => {
    const from = await fill(10);
    const to = await newUrl();
    const removing = defineCollection<{ name: string }>("zebras", { softDelete: true });
    const store = await openStore(to, { collections: [removing] });
    const { id } = await store.collection(removing).insert({ name: "gone" });
    await store.collection(removing).remove(id);
    await store.collection(others[0] ?? items).insert({ name: "another" });
    const refused = async (): Promise<string> => {
      const [code, , stderr] = await runDb(["copy", from, to]);
      expect(code).toBe(1);
      return stderr;
    };
    await store.close();
    // A removed document that is kept is one.
    expect(await refused()).toContain('"zebras" exists only there');
    {
      await using again = await openStore(to, { collections: [removing] });
      await again.collection(removing).purgeMany();
    }
    // The one that differs is not in the first collection that would be copied.
    expect(await refused()).toContain('the target has a document in "orders"');
    await using after = await openStore(to);
    expect(await after.collection(items).find({ deleted: "include" })).toEqual([]);
    expect(await after.collection(others[0] ?? items).count()).toBe(1);
  }, 60_000);
});

describe("fetchwork db copy", () => {
  it("reads a URL from a variable, hidden from ps", async () => {
    const from = await fill(3);
    const to = `sqlite:${join(newFolder(), "b.db")}`;
    const env = { FROM: from, TO: to };
    const [code, stdout] = await runDb(["copy", "env:FROM", "env:TO"], { env });
    expect([code, stdout]).toEqual([0, expect.stringContaining("collection items: 3 documents")]);
    expect(await runDb(["copy", "env:FROM", "env:NONE"], { env })).toMatchObject([
      2,
      "",
      expect.stringContaining("env:NONE is not set"),
    ]);
  });

  it("rejects the same store for both, and a missing source", async () => {
    expect((await runDb(["copy", "sqlite:a.db", "sqlite:a.db"]))[0]).toBe(2);
    const cwd = newFolder();
    expect((await runDb(["copy", "sqlite:a.db", "sqlite:b.db"], { cwd }))[0]).toBe(1);
  });

  it.skipIf(noPostgres !== undefined)(
    "creates a store for Citus by --distributed, and so does restore",
    async () => {
      const from = await fill(3);
      const backup = join(newFolder(), "a.jsonl");
      expect((await runDb(["backup", backup, "-u", from]))[0]).toBe(0);
      const copied = await newDatabase();
      const restored = await newDatabase();
      const definitions = ["--distributed", "-d", allDefinitions];
      expect((await runDb(["copy", from, copied, ...definitions]))[0]).toBe(0);
      expect((await runDb(["restore", backup, "-u", restored, ...definitions]))[0]).toBe(0);
      for (const url of [copied, restored]) {
        const other = openStore(url, { postgres: { distributed: false } });
        await expect(other).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPEN" });
        await using store = await openStore(url, { collections: [items] });
        expect(await store.collection(items).count()).toBe(2);
        expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
      }
    },
    60_000,
  );
});
