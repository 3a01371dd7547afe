import { readFileSync, writeFileSync } from "node:fs";
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
  database.exec(
    `UPDATE "notes:search" SET text = 'omega' WHERE rowid = (SELECT seq FROM notes WHERE id = 'x')`,
  );
  database.close();
  await using reopened = await openStore(`sqlite:${path}`, { collections: [notes] });
  expect(await administer(reopened).check()).toEqual({
    ok: false,
    problems: ['the search text of "x" of "notes" does not match the document'],
  });
});

it("A check on SQLite sees a byte that changed inside a document", async () => {
  const plain = defineCollection<{ text: string; other?: number }>("plain");
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [plain] });
  await store.collection(plain).insertMany([{ text: "first" }, { text: "second" }]);
  await store.collection(plain).insert({ text: "unchanged" }, { id: "x" });
  await store.collection(plain).update("x", { other: 1 });
  await store.collection(plain).upsert({ text: "unchanged, too" }, { id: "x" });
  await store.close();
  const bytes = readFileSync(path);
  const place = bytes.indexOf("unchanged, too");
  expect(bytes.indexOf("unchanged, too", place + 1)).toBe(-1);
  bytes.write("Un", place);
  writeFileSync(path, bytes);
  await using damaged = await openStore(`sqlite:${path}`, { collections: [plain] });
  expect(await damaged.collection(plain).get("x")).toMatchObject({ text: "Unchanged, too" });
  expect(await administer(damaged).check()).toEqual({
    ok: false,
    problems: ['the document "x" of "plain" is damaged'],
  });
});
