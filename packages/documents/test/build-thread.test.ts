import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { administer, defineCollection, openStore } from "../src/index.ts";
import { openAnother } from "./another-store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  title: string;
  text: string;
}

const byTitle = defineCollection<Note>("notes", { search: ["title"] });
const byText = defineCollection<Note>("notes", { search: ["text"] });
const withIndex = defineCollection<Note>("notes", { search: ["title"], indexes: ["text"] });

async function fill(count: number): Promise<string> {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [byTitle] });
  const documents = Array.from({ length: count }, (_, n) => ({ title: `${n}`, text: "early" }));
  await store.collection(byTitle).insertMany(documents);
  await store.close();
  return path;
}

it("SQLite builds a search itself where no thread can start", async () => {
  const path = await fill(5000);
  const store = await openAnother(path, { collections: [byText] }, () =>
    Promise.reject(new Error("no thread")),
  );
  await administer(store).built();
  expect(await store.collection(byText).count({ q: "early" })).toBe(5000);
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
  await store.close();
});

it("SQLite waits as long as busyTimeout for another writer before it builds an index", async () => {
  const path = await fill(10_000);
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const opened = openStore(`sqlite:${path}`, { collections: [withIndex], busyTimeout: 100 });
  await expect(opened).rejects.toMatchObject({ code: "ERR_DOCUMENTS_BUSY" });
  other.close();
});
