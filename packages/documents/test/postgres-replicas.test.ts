import { describe, expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { openInMemory } from "./open-for-test.ts";

const notes = defineCollection<{ text: string }>("notes");
const longTime = 3_600_000;

describe("Staleness", () => {
  it.each([-1, Number.NaN, "1", null])("refuses %j", async (staleness) => {
    const collection = (await openInMemory()).collection(notes);
    const query = Object({ staleness });
    await expect(collection.find(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    await expect(collection.page(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    await expect(collection.count(query)).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
  });

  it("is none on an engine without replicas", async () => {
    const collection = (await openInMemory()).collection(notes);
    const { id } = await collection.insert({ text: "a" });
    expect(await collection.get(id, { staleness: longTime })).toMatchObject({ text: "a" });
    expect(await collection.count({ staleness: longTime })).toBe(1);
  });

  it.each(["postgres://h/d", [1], ["nowhere"], ["postgres://a,b/d"], [null]])(
    "needs URLs of one host each: %j",
    async (replicas) => {
      await expect(
        openStore("postgres://h/d", { postgres: Object({ replicas }) }),
      ).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
    },
  );
});
