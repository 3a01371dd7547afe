import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineCollection, openStore } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { allDefinitions, allEngines, newFolder, runDb } from "./db-world.ts";
import { type Item, items } from "./shop-definitions.ts";

describe("fetchwork db migrate", () => {
  it("requires definitions", async () => {
    expect((await runDb(["migrate", "--url", "sqlite:a.db"]))[0]).toBe(2);
  });

  it("plans a missing store without creating it", async () => {
    const cwd = newFolder();
    const args = ["migrate", "-u", "sqlite:a.db", "-d", allDefinitions, "--dry-run"];
    expect((await runDb(args, { cwd }))[1]).toContain("to do  collection items: will be created\n");
    expect(existsSync(join(cwd, "a.db"))).toBe(false);
  });

  it("names the documents that violate a unique index", async () => {
    const url = `sqlite:${join(newFolder(), "a.db")}`;
    const store = await openStore(url);
    const bare = store.collection(defineCollection<Item>("items", { softDelete: true }));
    await bare.insertMany([{ name: "pen" }, { name: "pen" }]);
    await store.close();
    const [code, stdout, stderr] = await runDb(["migrate", "-u", url, "-d", allDefinitions]);
    expect([code, stdout]).toEqual([1, "done  migration 1: give every item a price\n"]);
    expect(stderr).toContain('another document of "items" has the same name');
  });

  it.each(allEngines)(
    "does on %s what the plan says, once",
    async (...engine) => {
      const url = await engine[1]();
      const first = await openStore(url);
      const bare = defineCollection<Item>("items", { softDelete: true });
      await first.collection(bare).insert({ name: "pen" });
      await first.close();
      const args = ["migrate", "--url", url, "--definitions", allDefinitions];
      const steps = [
        "migration 1: give every item a price",
        "collection items: index to be built (name)",
        "collection items: index to be built (price)",
        "collection items: search to be built (name)",
        "collection orders: will be created",
      ];
      const lines = (word: string): string => steps.map((step) => `${word}  ${step}\n`).join("");
      expect(await runDb([...args, "--dry-run"])).toEqual([0, lines("to do"), ""]);
      expect(await runDb(args)).toEqual([0, lines("done"), ""]);
      expect(await runDb(args)).toEqual([0, "", "Nothing to do\n"]);
      await using store = await openStore(url, { collections: [items] });
      expect(await store.collection(items).find({ q: "pen" })).toMatchObject([{ price: 0 }]);
    },
    60_000,
  );
});
