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

interface Task {
  text: string;
}

const tasks = defineCollection<Task>("tasks", { softDelete: true, changes: "documents" });

async function writeTasks(path: string): Promise<void> {
  await using store = await openStore(`sqlite:${path}`, { collections: [tasks] });
  const collection = store.collection(tasks);
  await collection.insertMany([{ text: "one" }, { text: "two" }]);
  await collection.insert({ text: "three" }, { id: "x" });
  await collection.update("x", { text: "four" });
  await collection.insert({ text: "five" }, { id: "y" });
  await collection.remove("y");
}

const damages: readonly (readonly [string, string, RegExp])[] = [
  ["a version", "UPDATE tasks SET version = 7 WHERE id = 'x'", /"x" of "tasks" is damaged/],
  [
    "a time of creation",
    "UPDATE tasks SET created_at = '202L-11-24' WHERE id = 'x'",
    /"x" of "tasks" is damaged/,
  ],
  [
    "a time of change",
    "UPDATE tasks SET updated_at = '202L-11-24' WHERE id = 'x'",
    /"x" of "tasks" is damaged/,
  ],
  [
    "a time of removal",
    "UPDATE tasks SET deleted_at = '202L-11-24' WHERE id = 'y'",
    /"y" of "tasks" is damaged/,
  ],
  [
    "the text of a change",
    `UPDATE "fetchwork:changes" SET doc = substr(doc, 1, 5) WHERE position = 4`,
    /the change 4 of the feed is damaged/,
  ],
  [
    "the kind of a change",
    `UPDATE "fetchwork:changes" SET kind = 'purge' WHERE position = 4`,
    /the change 4 of the feed is damaged/,
  ],
  [
    "the position of a change",
    `UPDATE "fetchwork:changes" SET position = 9 WHERE position = 6`,
    /positions of the change feed are missing/,
  ],
  [
    "the whole of a change",
    `DELETE FROM "fetchwork:changes" WHERE position = 6`,
    /positions of the change feed are missing/,
  ],
];

it.each(damages)("A check on SQLite sees that %s changed", async (_, statement, problem) => {
  const path = join(temporaryFolder(), "a.db");
  await writeTasks(path);
  const database = new DatabaseSync(path);
  expect(database.prepare(statement).run().changes).toBe(1);
  database.close();
  await using damaged = await openStore(`sqlite:${path}`, { collections: [tasks] });
  expect(await administer(damaged).check()).toEqual({
    ok: false,
    problems: [expect.stringMatching(problem)],
  });
});

it("A check on SQLite finds nothing after removals, purges and a feed that was trimmed", async () => {
  const path = join(temporaryFolder(), "a.db");
  await writeTasks(path);
  await using store = await openStore(`sqlite:${path}`, { collections: [tasks] });
  const check = (): Promise<unknown> => administer(store).check();
  expect(await check()).toEqual({ ok: true, problems: [] });
  await store.collection(tasks).restore("y");
  await store.collection(tasks).removeMany({ where: { text: "one" } });
  await store.collection(tasks).purge("y");
  expect(await check()).toEqual({ ok: true, problems: [] });
  await store.trimChanges({ before: new Date(Date.now() + 1000).toISOString() });
  expect(await check()).toEqual({ ok: true, problems: [] });
  await store.collection(tasks).insert({ text: "last" });
  expect(await check()).toEqual({ ok: true, problems: [] });
});

it("A document that was damaged before its removal is still reported by a check on SQLite", async () => {
  const path = join(temporaryFolder(), "a.db");
  await writeTasks(path);
  const database = new DatabaseSync(path);
  database.exec("UPDATE tasks SET version = 7 WHERE id = 'x'");
  database.close();
  await using store = await openStore(`sqlite:${path}`, { collections: [tasks] });
  expect(await store.collection(tasks).remove("x")).toBe(true);
  expect(await administer(store).check()).toMatchObject({
    problems: ['the document "x" of "tasks" is damaged'],
  });
});

it("A record of the feed whose text is damaged rejects with ERR_DOCUMENTS_ENGINE", async () => {
  const path = join(temporaryFolder(), "a.db");
  await writeTasks(path);
  const database = new DatabaseSync(path);
  database.exec(`UPDATE "fetchwork:changes" SET doc = substr(doc, 1, 5) WHERE position = 4`);
  database.close();
  await using store = await openStore(`sqlite:${path}`, { collections: [tasks] });
  const reading = Array.fromAsync(store.changes({ atEnd: "end" }));
  await expect(reading).rejects.toMatchObject({
    code: "ERR_DOCUMENTS_ENGINE",
    message: 'the document "x" of "tasks" is damaged',
  });
});
