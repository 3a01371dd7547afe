import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const plain = defineCollection("articles");
const articles = defineCollection("articles", { indexes: ["tags", "comments.author"] });

function namesOf(path: string): readonly unknown[] {
  const database = new DatabaseSync(path);
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE name LIKE '%:members:%' ORDER BY name")
    .all();
  database.close();
  return rows.map(({ name }) => name);
}

describe("The tables of members of SQLite", () => {
  it("are filled for documents that exist, kept by other programs, and dropped when unused", async () => {
    const path = join(temporaryFolder(), "a.db");
    const url = `sqlite:${path}`;
    const earlier = await openStore(url, { collections: [plain] });
    await earlier.collection(plain).insertMany([{ tags: ["a", true, 1, 1.5, null, "a"] }, {}]);
    await earlier.close();
    const store = await openStore(url, { collections: [articles] });
    const count = (member: boolean | number | string | null): Promise<number> =>
      store.collection(articles).count({ where: { tags: { contains: member } } });
    for (const member of ["a", true, 1, 1.5, null]) expect(await count(member)).toBe(1);
    expect(await count("b")).toBe(0);
    await store.close();
    const later = await openStore(url, { collections: [plain] });
    await later.collection(plain).insert({ tags: ["b"], comments: [{ author: "ann" }] });
    expect(await administer(later).check()).toEqual({ ok: true, problems: [] });
    await later.close();
    const last = await openStore(url, { collections: [articles] });
    const collection = last.collection(articles);
    expect(await collection.count({ where: { tags: { contains: "b" } } })).toBe(1);
    const where = { "comments.author": { contains: "ann" } };
    expect(await collection.count({ where })).toBe(1);
    await last.close();
    expect(namesOf(path)).toHaveLength(2);
    const final = await openStore(url, { collections: [plain] });
    await administer(final).dropUnused([plain]);
    expect(namesOf(path)).toEqual([]);
    expect(await final.collection(plain).removeMany({ where: {} })).toBe(3);
    await final.close();
  });

  it.each([
    ["lacks one", `DELETE FROM "articles:members:""tags""" WHERE value = 'a'`],
    ["has one too many", `INSERT INTO "articles:members:""tags""" VALUES ('text', 'z', 1)`],
  ])("are damaged when one %s", async (_text, damage) => {
    const path = join(temporaryFolder(), "a.db");
    const store = await openStore(`sqlite:${path}`, { collections: [articles] });
    await store.collection(articles).insert({ tags: ["a", "b"] });
    const database = new DatabaseSync(path);
    database.exec(damage);
    database.close();
    const problem = 'the index of members of "tags" of "articles" is damaged';
    expect(await administer(store).check()).toEqual({ ok: false, problems: [problem] });
    await store.close();
  });
});
