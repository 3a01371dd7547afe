import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { administer, defineCollection, openStore, type Store } from "../src/index.ts";
import { wantedDerived } from "../src/engines/derived.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const byTitle = defineCollection<{ title: string; text: string }>("notes", { search: ["title"] });
const byText = defineCollection<{ title: string; text: string }>("notes", { search: ["text"] });

it("A search that only another release can derive is completed by that one, on SQLite", async () => {
  const path = join(temporaryFolder(), "a.db");
  const open = async (definition: typeof byTitle): Promise<Store> => {
    const store = await openStore(`sqlite:${path}`, { collections: [definition] });
    onTestFinished(() => store.close());
    return store;
  };
  const created = await open(byTitle);
  const { id } = await created.collection(byTitle).insert({ title: "apple", text: "red" });
  await created.close();
  await (await open(byText)).close();

  const derived = wantedDerived(byText).search;
  const rename = (from: string | null, to: string | null): void => {
    const database = new DatabaseSync(path);
    database.prepare(`UPDATE "fetchwork:search" SET derived = ? WHERE derived = ?`).run(to, from);
    database.close();
  };
  const unknown = JSON.stringify({ fold: 99, fields: ["text"] });
  rename(derived, unknown);
  const older = await open(byTitle);
  await older.collection(byTitle).update(id, { text: "green" });
  await older.collection(byTitle).insert({ title: "pear", text: "green" });
  await older.close();
  rename(unknown, derived);

  const store = await open(byText);
  expect(await store.collection(byText).count({ q: "red" })).toBe(0);
  expect(await store.collection(byText).count({ q: "green" })).toBe(2);
  await administer(store).built();
  expect(await store.collection(byText).count({ q: "green" })).toBe(2);
  expect(await administer(store).check()).toEqual({ ok: true, problems: [] });
});
