import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const notes = defineCollection<{ text: string }>("notes", { search: ["text"] });

it("The check of a SQLite file reports a document whose search text is that of another text", async () => {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  const documents = Array.from({ length: 1200 }, (_, n) => ({ text: `alpha ${n}` }));
  await store.collection(notes).insertMany(documents);
  await store.collection(notes).insert({ text: "alpha" }, { id: "x" });
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  await store.close();
  const database = new DatabaseSync(path);
  database.exec(`UPDATE notes SET doc = '{"text":"omega"}' WHERE id = 'x'`);
  database.close();
  await using reopened = await openStore(`sqlite:${path}`, { collections: [notes] });
  expect(await administer(reopened).check()).toEqual({
    ok: false,
    problems: ['The search text of "x" of "notes" is not its own'],
  });
});
