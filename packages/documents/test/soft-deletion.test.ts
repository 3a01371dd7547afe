import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore, UniqueError } from "../src/index.ts";
import { newDatabase, openInMemory } from "./open-for-test.ts";
import { postgresVersions } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Member {
  email: string;
  name?: string;
}

const options = { unique: ["email"], indexes: ["name"], search: ["name"] } as const;
const members = defineCollection<Member>("members", { ...options, softDelete: true });
const hard = defineCollection<Member>("members", options);

/** Makes the URL of an empty store of each engine that keeps what is in it. */
const urlOfStore: readonly (readonly [engine: string, newUrl: () => Promise<string>])[] = [
  ["SQLite", () => Promise.resolve(`sqlite:${join(temporaryFolder(), "a.db")}`)],
  ...postgresVersions.map(([name, bin]) => [name, () => newDatabase(bin)] as const),
];

describe.each(urlOfStore)(
  "A definition of %s that gains or loses softDelete",
  (_engine, newUrl) => {
    it("keeps its documents and unique fields, and loses it only after a purge", async () => {
      const url = await newUrl();
      const before = await openStore(url, { collections: [hard] });
      const { id } = await before.collection(hard).insert({ email: "a" });
      await before.close();

      const soft = await openStore(url, { collections: [members] });
      const collection = soft.collection(members);
      await expect(collection.insert({ email: "a" })).rejects.toThrow(UniqueError);
      await collection.remove(id);
      await collection.insert({ email: "a" });
      await soft.close();

      await expect(openStore(url, { collections: [hard] })).rejects.toMatchObject({
        code: "ERR_DOCUMENTS_DEFINITION",
      });
      const again = await openStore(url, { collections: [members] });
      await again.collection(members).purgeMany();
      await again.close();

      const after = await openStore(url, { collections: [hard] });
      await expect(after.collection(hard).insert({ email: "a" })).rejects.toThrow(UniqueError);
      expect(await after.collection(hard).count()).toBe(1);
      await after.close();
    });
  },
);

describe("A document that was removed", () => {
  it("is looked for in an index, when a definition loses softDelete", async () => {
    const path = join(temporaryFolder(), "a.db");
    await (await openStore(`sqlite:${path}`, { collections: [members] })).close();
    await (await openStore(`sqlite:${path}`, { collections: [hard] })).close();
    const database = new DatabaseSync(path);
    onTestFinished(() => {
      database.close();
    });
    const plan = "EXPLAIN QUERY PLAN SELECT seq FROM members WHERE deleted_at IS NOT NULL";
    expect(JSON.stringify(database.prepare(plan).all())).toContain("members:removed");
  });

  it("is counted once in a transaction that is undone", async () => {
    const store = await openInMemory();
    const { id } = await store.collection(members).insert({ email: "a" });
    await expect(
      store.transaction(async (tx) => {
        await tx.collection(members).remove(id);
        expect(await tx.collection(members).count()).toBe(0);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await store.collection(members).count()).toBe(1);
  });
});
